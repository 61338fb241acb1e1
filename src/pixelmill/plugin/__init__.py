"""Batches for PyTorch, JAX, TensorFlow and Lightning. Each framework is imported only by its own module here."""
