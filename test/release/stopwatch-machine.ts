/** A machine of the stopwatch: a Debian of its own as its root, in a network namespace, with a keyboard. systemd can't run there: a script plays systemctl. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Program } from '../../scripts/quickstart/program.ts';

export interface Machine {
  /** Folder of its file system. */
  readonly root: string;
  readonly netns: string;
}

export interface TypedLine {
  readonly machine: string;
  readonly line: string;
  readonly seconds: number;
}

/** Starts a line in the shell of `user`, which becomes its first command: signals reach that. Its /proc and /dev are mounted for this line alone. */
export function startLine({ root, netns }: Machine, line: string, user = 'root'): Program {
  const home = user === 'root' ? '/root' : `/home/${user}`;
  const mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"';
  const inside = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', 'sh', '-c', `cd && exec ${line}`];
  return new Program({
    command: ['ip', 'netns', 'exec', netns, 'sh', '-c', `${mounts} && exec chroot "$0" "$@"`, root, ...inside],
    args: [],
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: home },
  });
}

/** What `culvert setup` asks of systemd: it runs the command of the unit as the user and with the capability that the unit names. The sockets stay with the server. */
const SYSTEMCTL = `#!/bin/sh
pid=/run/culvert.pid
verb=$1
shift
case " $* " in *' culvert '*) ;; *) exit 0 ;; esac
unit=$(sed -n 's/^ExecStart=//p' /etc/systemd/system/culvert.service)
case $verb in
  stop)
    [ -f $pid ] || exit 0
    kill "$(cat $pid)"
    while kill -0 "$(cat $pid)" 2>/dev/null; do sleep 0.1; done
    rm $pid
    ;;
  start)
    cd /var/lib/culvert
    setsid setpriv --reuid culvert --regid culvert --init-groups --inh-caps=+net_bind_service \\
      --ambient-caps=+net_bind_service $unit >/var/log/culvert.log 2>&1 </dev/null &
    echo $! >$pid
    ;;
esac
`;

/** Puts the played systemd into a root. */
export function playSystemd(root: string): void {
  writeFileSync(join(root, 'usr/bin/systemctl'), SYSTEMCTL, { mode: 0o755 });
}
