/** git over smart HTTP: clone, push of a repository with a large file, clone of what was pushed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const LARGE = 30_000_000;
const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];

export const git: CompatProgram = {
  name: 'git (smart HTTP)',
  checks: 'clone, push with a file of 30 MB, clone again, fsck',
  async start(kit) {
    await kit.needs({ git: 'git' });
    const home = { HOME: kit.folder, GIT_CONFIG_NOSYSTEM: '1' };
    const port = await kit.freePort();
    const server = createServer((request, response) => answer(kit.folder, request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    kit.after(() => server.close());
    let visits = 0;
    return {
      version: (await kit.run(['git', '--version'])).replace(/^git version (\S+)[^]*$/, '$1'),
      port,
      async check({ url, proxyUrl, certFile }) {
        const visit = `visit-${++visits}`;
        await kit.run(['git', 'init', '-q', '--bare', `${visit}.git`], { cwd: kit.folder, env: home });
        await kit.run(['git', '-C', `${visit}.git`, 'config', 'http.receivepack', 'true'], { cwd: kit.folder });
        const env = { ...home, https_proxy: proxyUrl, GIT_SSL_CAINFO: certFile };
        const run = (...args: string[]): Promise<string> =>
          kit.run(['git', ...AUTHOR, ...args], { cwd: kit.folder, env });
        const source = new URL(`/${visit}.git`, url).href;
        await run('clone', '-q', source, visit);
        writeFileSync(join(kit.folder, visit, 'large.bin'), randomBytes(LARGE));
        await run('-C', visit, 'add', '.');
        await run('-C', visit, 'commit', '-q', '-m', 'Add a large file');
        await run('-C', visit, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
        await run('clone', '-q', '-b', 'main', source, `${visit}-again`);
        await run('-C', `${visit}-again`, 'fsck', '--full', '--strict');
        const heads = await Promise.all([visit, `${visit}-again`].map((one) => run('-C', one, 'rev-parse', 'HEAD')));
        assert.equal(heads[0], heads[1]);
      },
    };
  },
};

/** `git http-backend` as CGI, as any web server runs it. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
  const { 'content-type': type, 'content-encoding': encoding, 'git-protocol': protocol } = request.headers;
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: type,
      HTTP_CONTENT_ENCODING: encoding,
      GIT_PROTOCOL: Array.isArray(protocol) ? protocol[0] : protocol,
    },
  });
  backend.stdin.on('error', () => undefined); // it ended without reading
  request.pipe(backend.stdin);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const fields = new Map(
      Array.from(head.toString('latin1', 0, end).matchAll(/^(\S+): ([^\r]*)/gm), ([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    response.writeHead(Number.parseInt(fields.get('Status') ?? '200', 10), [...fields].flat());
    response.write(head.subarray(end + 4));
    backend.stdout.off('data', readHead).pipe(response);
  };
  backend.stdout.on('data', readHead);
}
