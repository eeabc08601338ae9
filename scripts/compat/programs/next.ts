/** Next's development server: a rendered page, a server action with its check of Origin, and the WebSocket of its hot reload. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const PAGE = `export default function Page() {
  async function greet() { 'use server'; const { redirect } = await import('next/navigation'); redirect('/greeted'); }
  return <form action={greet}><h1>Compat</h1><button>Greet</button></form>;
}
`;
const LAYOUT = 'export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n';

export const next: CompatProgram = {
  name: 'Next',
  checks: 'page, server action with its Origin check, redirect, WebSocket of hot reload opens',
  // It refuses a foreign Origin of the WebSocket with bytes that are no HTTP. Its server actions compare Origin with X-Forwarded-Host.
  remedy: { name: 'allowedDevOrigins', isFlag: false },
  async start(kit) {
    const modules = await kit.npm('next', ['next@16', 'react@19', 'react-dom@19']);
    const serve = async (name: string, settings: object): Promise<number> => {
      const folder = kit.makeFolder(name);
      kit.write({
        [`${name}/app/page.jsx`]: PAGE,
        [`${name}/app/layout.jsx`]: LAYOUT,
        [`${name}/package.json`]: '{"private":true}',
        [`${name}/next.config.mjs`]: `export default ${JSON.stringify(settings)};\n`,
      });
      await kit.run(['cp', '-r', join(modules, 'node_modules'), folder]);
      const port = await kit.freePort();
      const command = ['node', 'node_modules/next/dist/bin/next', 'dev', '--port', String(port)];
      await kit.serve(command, port, { cwd: folder, env: { NEXT_TELEMETRY_DISABLED: '1' } });
      return port;
    };
    return {
      version: kit.versionIn(modules, 'next'),
      port: await serve('plain', {}),
      configuredPort: await serve('configured', { allowedDevOrigins: ['*.tunnels.example'] }),
      async check({ ask, socket, url }) {
        const page = await ask('/');
        assert.equal(page.status, 200, page.text.slice(0, 200));
        assert.match(page.text, /Compat/);
        const [, action = ''] = /name="(\$ACTION_ID_[0-9a-f]+)"/.exec(page.text) ?? [];
        const form = new FormData();
        form.set(action, '');
        const sent = new Response(form);
        const type = sent.headers.get('content-type') ?? '';
        const headers = { origin: url.origin, 'content-type': type };
        const done = await ask('/', { method: 'POST', headers, body: Buffer.from(await sent.arrayBuffer()) });
        assert.equal(done.status, 303, done.text.slice(0, 200));
        assert.match(done.headers.location ?? '', /\/greeted$/);
        const reload = socket('/_next/hmr?id=compat');
        try {
          await reload.opened();
        } finally {
          reload.close();
        }
      },
    };
  },
};
