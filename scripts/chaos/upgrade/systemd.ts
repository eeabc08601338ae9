/** systemd for one unit: a `systemctl` for children that hands its orders to this process, which starts and stops the server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ends } from '../../../test/harness/ends.ts';
import type { SpawnedCulvert } from '../../../test/harness/spawned.ts';

const LOOK_MS = 10;

export interface PlayedSystemd {
  readonly root: string;
  readonly tools: string;
}

/** `culvert` is running. */
export function playSystemd(t: Ends, culvert: SpawnedCulvert, program: string): PlayedSystemd {
  const [root, tools] = [join(culvert.folder, 'root'), join(culvert.folder, 'tools')];
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  mkdirSync(tools);
  const [order, active] = [join(tools, 'order'), join(tools, 'active')];
  writeFileSync(active, '');
  writeFileSync(
    join(tools, 'systemctl'),
    `#!/bin/sh
case $1 in
  is-active) [ -e "${active}" ] ;;
  show) echo "{ path=${program} ; argv[]=${program} serve ; ignore_errors=no }" ;;
  *) echo "$1" >"${order}.new"; mv "${order}.new" "${order}"; while [ -e "${order}" ]; do sleep 0.01; done ;;
esac
`,
    { mode: 0o755 },
  );
  const dropIn = join(root, 'run/systemd/system/culvert.service.d/culvert-rollback.conf');
  const start = async (): Promise<void> => {
    const before = existsSync(dropIn)
      ? /^ExecStartPre=\+\/bin\/sh -c '(.*)'$/m.exec(readFileSync(dropIn, 'utf8'))
      : null;
    if (before !== null) await once(spawn('/bin/sh', ['-c', before[1] ?? ''], { stdio: 'inherit' }), 'close');
    await culvert.startServer();
    writeFileSync(active, '');
  };
  let starting: Promise<void> = Promise.resolve();
  const carryOut = async (verb: string): Promise<void> => {
    if (verb === 'daemon-reload') return;
    if (verb !== 'start') {
      rmSync(active);
      const code = await culvert.stopServer();
      if (code !== 0) throw new Error(`the server ended with ${code}`);
      // Not only after "restart": the next visitor at the socket starts it.
      starting = start();
      starting.catch(() => undefined);
    }
    if (verb !== 'stop') await starting;
  };
  const ending = new AbortController();
  const following = (async () => {
    for (; !ending.signal.aborted; await pause(LOOK_MS)) {
      if (!existsSync(order)) continue;
      await carryOut(readFileSync(order, 'utf8').trim()).catch((error) => console.error(error));
      rmSync(order);
    }
  })();
  t.after(async () => {
    ending.abort();
    await following;
  });
  return { root, tools };
}
