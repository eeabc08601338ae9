/** `/app/cli`: the page that a command line sends a person to. */
import { getCookie } from 'hono/cookie';
import type { Api } from '../app.ts';
import type { ApiDeps } from '../context.ts';
import { CLI_PAGE_POLICY, cliPage } from '../pages/cli-page.ts';
import { CLI_SCRIPT } from '../pages/cli-script.ts';
import { CLI_STYLE } from '../pages/cli-style.ts';
import { REFRESH_COOKIE } from '../refresh-cookie.ts';

const FILES: Readonly<Record<string, { readonly type: string; readonly summary: string; readonly text?: string }>> = {
  '/app/cli': { type: 'text/html; charset=utf-8', summary: 'Page on which a person lets a command line in' },
  '/app/cli.js': { type: 'text/javascript; charset=utf-8', summary: 'Script of that page', text: CLI_SCRIPT },
  '/app/cli.css': { type: 'text/css; charset=utf-8', summary: 'Style of that page', text: CLI_STYLE },
};

export function mountCliPage(app: Api, { refresh }: ApiDeps): void {
  for (const [path, { type, summary, text }] of Object.entries(FILES)) {
    app.openAPIRegistry.registerPath({
      method: 'get',
      path,
      security: [],
      tags: ['auth'],
      summary,
      responses: { 200: { description: 'A file for a browser', content: { [type]: { schema: { type: 'string' } } } } },
    });
    app.get(path, (c) => {
      c.header('Content-Type', type);
      if (text !== undefined) return c.body(text);
      c.header('Content-Security-Policy', CLI_PAGE_POLICY);
      c.header('X-Frame-Options', 'DENY');
      const cookie = getCookie(c, REFRESH_COOKIE);
      const signedIn = cookie !== undefined && refresh.isLive(cookie);
      return c.body(cliPage({ deviceCode: c.req.query('device_code'), signedIn }));
    });
  }
}
