"""What the jobs share that read one dataset and write another."""
