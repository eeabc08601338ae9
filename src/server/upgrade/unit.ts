/** The systemd unit of the server. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './machine.ts';

const NAME = 'culvert';

export interface Unit {
  /** Stops the server if the unit runs it; visitors at its socket units wait, and start it no sooner than `restart`. @throws when that fails. */
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
  const gate = startGate(root, () => systemctl('daemon-reload'));
  return {
    stop: () => {
      if (!isOurs) return;
      gate.shut();
      try {
        order('stop');
      } catch (error) {
        gate.remove();
        throw error;
      }
    },
    restart: async () => {
      if (!isOurs) return false;
      const isStopped = gate.isShut();
      gate.open();
      try {
        order(isStopped ? 'start' : 'restart');
      } finally {
        gate.remove();
      }
      // systemd is content once the program runs, and starts it again when it ends.
      await sleep(settleMs);
      if (!isActive()) throw new Error(`the server does not stay up. See: journalctl -u ${NAME}`);
      return true;
    },
  };
}

/**
 * Holds up starts of the server: a stopped one is started by the next visitor at a socket unit. A drop-in for the time until the next boot; a start
 * goes on as well when this process has ended.
 */
function startGate(root: string, reload: () => void) {
  const shutFile = join(root, 'run/culvert-rollback');
  const dropIn = join(root, 'run/systemd/system/culvert.service.d/culvert-rollback.conf');
  const wait = `while [ -e "${shutFile}" ] && kill -0 ${process.pid} 2>/dev/null; do sleep 0.1; done`;
  return {
    shut: (): void => {
      mkdirSync(dirname(dropIn), { recursive: true });
      // "+": as root, who may ask for this process.
      writeFileSync(dropIn, `[Service]\nExecStartPre=+/bin/sh -c '${wait}'\nTimeoutStartSec=infinity\n`);
      writeFileSync(shutFile, '');
      reload();
    },
    isShut: (): boolean => existsSync(shutFile),
    open: (): void => rmSync(shutFile, { force: true }),
    remove: (): void => {
      rmSync(shutFile, { force: true });
      if (!existsSync(dropIn)) return;
      rmSync(dropIn);
      reload();
    },
  };
}
