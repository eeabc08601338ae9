/** The systemd unit of the server. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './machine.ts';

const NAME = 'culvert';

export interface Unit {
  /** Stops the server if the unit runs it. @throws when that fails. */
  stop(): void;
  /** Restarts the server, or starts it again after `stop`. False when no unit runs it. Rejects when it does not stay up. */
  restart(): Promise<boolean>;
}

/** The unit that runs `program`, if one does. */
export function systemdUnit(program: string, { root, env, settleMs }: Machine, report: (line: string) => void): Unit {
  const systemctl = (...args: string[]) => spawnSync('systemctl', args, { encoding: 'utf8', env });
  const isActive = (): boolean => systemctl('is-active', '--quiet', NAME).status === 0;
  const order = (verb: string): void => {
    report(`systemctl ${verb} ${NAME}`);
    const { status, stderr } = systemctl(verb, NAME);
    if (status !== 0) throw new Error(`systemctl ${verb} ${NAME} failed: ${stderr.trim()}. See: journalctl -u ${NAME}`);
  };
  const isOurs =
    existsSync(join(root, 'run/systemd/system')) &&
    isActive() &&
    // Of another program: an agent in the home folder of a user, beside a server.
    systemctl('show', '--property=ExecStart', '--value', NAME).stdout.includes(`path=${program} `);
  let isStopped = false;
  return {
    stop: () => {
      if (!isOurs) return;
      order('stop');
      isStopped = true;
    },
    restart: async () => {
      if (!isOurs) return false;
      order(isStopped ? 'start' : 'restart');
      // systemd is content once the program runs, and starts it again when it ends.
      await sleep(settleMs);
      if (!isActive()) throw new Error(`the server does not stay up. See: journalctl -u ${NAME}`);
      return true;
    },
  };
}
