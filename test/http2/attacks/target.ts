/** The server under attack, as the attacker's process sees it (server.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scope } from '../../../src/data/edge/testing/rig.ts';
import type { Engine } from '../engines.ts';
import type { Measured } from './server.ts';

export class Target {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(t: Scope, engine: Engine): Promise<Target> {
    const child = fork(join(import.meta.dirname, 'server.ts'), [engine], { execArgv: ['--expose-gc'] });
    t.after(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Target(child, port);
  }

  async measure(): Promise<Measured> {
    this.#child.send('measure');
    const [measured] = (await once(this.#child, 'message')) as [Measured];
    return measured;
  }
}
