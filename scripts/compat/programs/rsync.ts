/** An rsync daemon behind a tcp tunnel: files there, a change, and back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

export const rsync: CompatProgram = {
  name: 'rsync (daemon)',
  checks: '20 MB up, a changed block up, all down, checksums compared',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ rsync: 'rsync' });
    for (const name of ['module', 'local', 'back']) kit.makeFolder(name);
    const owner = process.getuid?.() === 0 ? 'uid = root\ngid = root\n' : '';
    const daemon = `use chroot = no\n[files]\npath = ${kit.folder}/module\nread only = no\n${owner}`;
    kit.write({ 'rsyncd.conf': daemon });
    const port = await kit.freePort();
    const config = `--config=${join(kit.folder, 'rsyncd.conf')}`;
    await kit.serve(['rsync', '--daemon', '--no-detach', '--address=127.0.0.1', `--port=${port}`, config], port);
    return {
      version: (await kit.run(['rsync', '--version'])).replace(/^rsync +version (\S+)[^]*$/, '$1'),
      port,
      async check(tunnel) {
        const local = join(kit.folder, 'local');
        const files = `rsync://127.0.0.1:${tunnel.port}/files/`;
        const sync = (...args: string[]): Promise<string> =>
          kit.run(['rsync', '-r', '--checksum', '--delete', '--no-motd', ...args]);
        const bytes = randomBytes(20_000_000);
        writeFileSync(join(local, 'large.bin'), bytes);
        await sync(`${local}/`, files);
        bytes.fill(0, 5_000_000, 5_001_000);
        writeFileSync(join(local, 'large.bin'), bytes);
        await sync(`${local}/`, files);
        await sync(files, `${kit.folder}/back/`);
        assert.equal(await sync('--dry-run', '--itemize-changes', `${local}/`, `${kit.folder}/back/`), '');
      },
    };
  },
};
