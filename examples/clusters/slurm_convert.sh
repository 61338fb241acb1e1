#!/bin/bash
# Converts a dataset in 8 parts, each a task of a Slurm array. The last task that ends writes the manifest.
#
#     sbatch examples/clusters/slurm_convert.sh INPUT OUTPUT [--samples-per-shard 10000 ...]
#
# A task that was killed is started again by the same command: finished shards stay.
#SBATCH --array=0-7
#SBATCH --cpus-per-task=8
#SBATCH --mem=8G
#SBATCH --requeue
set -euo pipefail

first=${SLURM_ARRAY_TASK_MIN:-0}
pixelmill convert "$1" "$2" --to webdataset --exists resume --workers "${SLURM_CPUS_PER_TASK:-1}" \
    --part "$((SLURM_ARRAY_TASK_ID - first))/$SLURM_ARRAY_TASK_COUNT" "${@:3}"
