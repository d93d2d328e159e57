#!/bin/sh
# A SLURM cluster of two nodes on this machine, without systemd and without root's files in /etc:
#
#   apt-get install slurmctld slurmd munge slurm-client     (Debian 12: SLURM 22.05)
#   sh tests/slurm/cluster.sh start FOLDER [USER]    starts munged, slurmctld and two slurmd with their files in FOLDER; jobs are USER's
#   export SLURM_CONF=FOLDER/slurm.conf              lets sinfo, sbatch, squeue and the others find it
#   sh tests/slurm/cluster.sh stop FOLDER            ends these processes
#
# The daemons run as root. Nothing limits the memory or the cores of a task (no cgroups), but SLURM counts both when it places tasks.
set -eu

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
folder=$2

start() {
    mkdir -p "$folder/state" "$folder/munge"
    folder=$(cd "$folder" && pwd)
    chmod 755 "$folder"
    host=$(hostname -s)
    cores=$(nproc)
    cat > "$folder/slurm.conf" <<CONF
ClusterName=tests
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=17000
AuthType=auth/munge
# A task that is requeued waits until its credential has expired: 2 minutes otherwise.
AuthInfo=socket=$folder/munge/socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=2,sched_min_interval=500000
JobRequeue=1
ReturnToService=2
MailProg=/bin/true
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17001 CPUs=$cores RealMemory=4000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17002 CPUs=$cores RealMemory=4000
PartitionName=work Nodes=n1,n2 Default=YES MaxTime=UNLIMITED State=UP
CONF
    # Both nodes say that they have all cores of this machine, so that there is more to do than it can do at a time.
    echo 'CgroupPlugin=cgroup/v1' > "$folder/cgroup.conf"
    dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2> /dev/null
    chmod 400 "$folder/munge/key"
    chmod 711 "$folder/munge"
    chown -R munge: "$folder/munge"
    setpriv --reuid munge --regid munge --clear-groups munged --force --key-file="$folder/munge/key" \
        --socket="$folder/munge/socket" --pid-file="$folder/munge/munged.pid" --log-file="$folder/munge/log" \
        --seed-file="$folder/munge/seed"
    # All that is set here is inherited by tasks, so it is set for the daemons alone.
    env -u GRIDEMU_DATA slurmctld -f "$folder/slurm.conf"
    for node in n1 n2; do
        env -u GRIDEMU_DATA slurmd -N "$node" -f "$folder/slurm.conf"
    done
    export SLURM_CONF="$folder/slurm.conf"
    for _ in $(seq 60); do
        [ "$(sinfo --noheader --format=%D --states=idle 2> /dev/null)" = 2 ] && { sinfo; return; }
        sleep 0.5
    done
    echo 'the nodes do not come up; see the logs:' >&2
    tail -n 5 "$folder"/*.log >&2
    exit 1
}

stop() {
    for pid in "$folder"/slurmd-n1.pid "$folder"/slurmd-n2.pid "$folder"/slurmctld.pid "$folder"/munge/munged.pid; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2> /dev/null || :
    done
}

case $1 in
    start) start ;;
    stop) stop ;;
    *) usage ;;
esac
