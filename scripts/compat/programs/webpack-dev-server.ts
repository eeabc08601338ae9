/** webpack-dev-server: the bundle, and a new build reported over its WebSocket. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type CompatProgram, REWRITE } from '../program.ts';

const PACKAGES = ['webpack@5', 'webpack-cli@6', 'webpack-dev-server@5'];

export const webpackDevServer: CompatProgram = {
  name: 'webpack-dev-server',
  checks: 'page, bundle, new build over WebSocket after a change',
  remedy: REWRITE,
  async start(kit) {
    const modules = await kit.npm('webpack', PACKAGES);
    const cli = join(modules, 'node_modules/webpack/bin/webpack.js');
    let edits = 0;
    const edit = (): void => kit.write({ 'src/index.js': `document.title = 'edit ${++edits}';\n` });
    kit.write({ 'public/index.html': '<h1>Compat</h1><script src="/main.js"></script>', 'package.json': '{}' });
    edit();
    const port = await kit.freePort();
    const command = ['node', cli, 'serve', '--mode', 'development', '--port', String(port)];
    // The CLI looks for its parts beside the project.
    await kit.run(['ln', '-s', join(modules, 'node_modules'), join(kit.folder, 'node_modules')]);
    await kit.serve(command, port, { cwd: kit.folder });
    return {
      version: kit.versionIn(modules, 'webpack-dev-server'),
      port,
      async check({ ask, socket }) {
        const page = await ask('/');
        assert.equal(page.status, 200, page.text.slice(0, 200));
        assert.match(page.text, /Compat/);
        assert.match((await ask('/main.js')).text, /edit/);
        const builds = socket('/ws');
        try {
          await builds.until(({ type }: { type: string }) => type === 'ok');
          edit();
          await builds.until(({ type }: { type: string }) => type === 'invalid');
          await builds.until(({ type }: { type: string }) => type === 'ok');
        } finally {
          builds.close();
        }
      },
    };
  },
};
