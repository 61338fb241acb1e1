#!/bin/bash
# Trains with one process for each task of a Slurm job.
#
#     sbatch examples/clusters/slurm_train.sh DATA
#
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
set -euo pipefail

hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
export MASTER_ADDR=${hosts%%$'\n'*} MASTER_PORT=${MASTER_PORT:-29500}
srun python "$(dirname "$0")/train.py" --data "$1" "${@:2}"
