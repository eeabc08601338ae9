/** Vite's development server: the page, and a change of a file by its HMR WebSocket. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type CompatProgram, REWRITE } from '../program.ts';

export const vite: CompatProgram = {
  name: 'Vite',
  checks: 'page, module, HMR over WebSocket after a change',
  remedy: REWRITE,
  async start(kit) {
    const modules = await kit.npm('vite', ['vite@7']);
    const cli = join(modules, 'node_modules/vite/bin/vite.js');
    let edits = 0;
    const edit = (): void => kit.write({ 'main.js': `document.title = 'edit ${++edits}';\n` });
    kit.write({ 'index.html': '<h1>Compat</h1><script type="module" src="/main.js"></script>' });
    edit();
    const port = await kit.freePort();
    await kit.serve(['node', cli, '--port', String(port), '--strictPort'], port, { cwd: kit.folder });
    return {
      version: kit.versionIn(modules, 'vite'),
      port,
      async check({ ask, socket }) {
        const page = await ask('/');
        assert.equal(page.status, 200, page.text.slice(0, 200));
        assert.match(page.text, /Compat/);
        assert.match((await ask('/main.js')).text, /edit/);
        const [, token = ''] = /wsToken = "([^"]+)"/.exec((await ask('/@vite/client')).text) ?? [];
        const hmr = socket(`/?token=${token}`, ['vite-hmr']);
        try {
          await hmr.until(({ type }: { type: string }) => type === 'connected');
          edit();
          await hmr.until(({ type }: { type: string }) => type === 'full-reload' || type === 'update');
        } finally {
          hmr.close();
        }
      },
    };
  },
};
