/** Verdaccio, a registry of npm packages: an account, `npm publish`, `npm install`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const SETTINGS = `storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: $all, publish: $authenticated } }
log: { type: stdout, format: json, level: error }
`;

export const verdaccio: CompatProgram = {
  name: 'Verdaccio',
  checks: 'create an account, npm publish of 1 MB, npm install by its tarball URL',
  async start(kit) {
    // It wants a dist-tag of this package, which mirrors of the registry may not have.
    const modules = await kit.npm('verdaccio', ['verdaccio@6'], { 'node-fetch': '^2.7.0' });
    kit.write({ 'config.yaml': SETTINGS });
    const port = await kit.freePort();
    const cli = join(modules, 'node_modules/verdaccio/bin/verdaccio');
    const config = ['--config', join(kit.folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
    await kit.serve(['node', cli, ...config], port, { cwd: kit.folder });
    let visits = 0;
    return {
      version: kit.versionIn(modules, 'verdaccio'),
      port,
      async check({ ask, url, proxyUrl, certFile }) {
        const name = `compat-${++visits}`;
        const account = JSON.stringify({ name, password: 'secret-of-ann' });
        const headers = { 'content-type': 'application/json' };
        const made = await ask(`/-/user/org.couchdb.user:${name}`, { method: 'PUT', headers, body: account });
        assert.equal(made.status, 201, made.text);
        const { token } = JSON.parse(made.text) as { token: string };
        const settings = `registry=${url.href}\n//${url.host}/:_authToken=${token}\ncafile=${certFile}\n`;
        const content = randomBytes(500_000).toString('hex');
        kit.write({
          [`${name}/npmrc`]: `${settings}https-proxy=${proxyUrl}\ncache=${kit.folder}/npm-cache-${name}\n`,
          [`${name}/package/package.json`]: JSON.stringify({ name, version: '1.0.0' }),
          [`${name}/package/content.txt`]: content,
          [`${name}/user/package.json`]: '{"private":true}',
        });
        const npm = (folder: string, ...args: string[]): Promise<string> =>
          kit.run(['npm', ...args, '--userconfig', join(kit.folder, name, 'npmrc'), '--registry', url.href], {
            cwd: join(kit.folder, name, folder),
          });
        await npm('package', 'publish');
        await npm('user', 'install', '--no-audit', name);
        assert.equal(readFileSync(join(kit.folder, name, 'user/node_modules', name, 'content.txt'), 'utf8'), content);
      },
    };
  },
};
