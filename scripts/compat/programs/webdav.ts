/** A WebDAV folder, used with cadaver over HTTPS: COPY and MOVE name their goal by a full URL in `Destination`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const SERVER = `const { v2: webdav } = require('webdav-server');
new webdav.WebDAVServer({ port: Number(process.argv[2]), hostname: '127.0.0.1' }).start();
`;

export const webdav: CompatProgram = {
  name: 'WebDAV with cadaver',
  checks: 'mkcol, put of 5 MB, copy, move, get',
  async start(kit) {
    await kit.needs({ cadaver: 'cadaver', script: 'bsdutils' });
    const modules = await kit.npm('webdav', ['webdav-server@2']);
    kit.write({ 'server.cjs': SERVER });
    const port = await kit.freePort();
    const env = { NODE_PATH: join(modules, 'node_modules') };
    await kit.serve(['node', join(kit.folder, 'server.cjs'), String(port)], port, { env });
    let visits = 0;
    return {
      version: /^Error: .*: cadaver (\S+)/.exec(await kit.run(['cadaver', '--version']).catch(String))?.[1] ?? '',
      port,
      async check({ url, proxyUrl, ask }) {
        const visit = `visit-${++visits}`;
        const bytes = randomBytes(5_000_000);
        writeFileSync(join(kit.folder, `${visit}.bin`), bytes);
        const proxy = new URL(proxyUrl);
        const commands = [
          `open ${url.href}`,
          `mkcol ${visit}`,
          `put ${visit}.bin ${visit}/first.bin`,
          `copy ${visit}/first.bin ${visit}/second.bin`,
          `move ${visit}/second.bin ${visit}/third.bin`,
          `get ${visit}/third.bin ${visit}-back.bin`,
          'quit\n',
        ];
        kit.write({ [`${visit}.rc`]: commands.join('\n') });
        // Its question about the certificate is asked on a terminal alone.
        const command = ['script', '-qec', `cadaver -p ${proxy.host} -r ${visit}.rc`, '/dev/null'];
        const said = await kit.run(command, { cwd: kit.folder, input: 'y\n', env: { HOME: kit.folder } });
        assert.doesNotMatch(said, /failed/i);
        assert.ok(readFileSync(join(kit.folder, `${visit}-back.bin`)).equals(bytes));
        assert.equal((await ask(`/${visit}/second.bin`)).status, 404, 'it was moved');
      },
    };
  },
};
