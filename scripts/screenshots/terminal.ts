/** The agent's live screen as a picture: the frame that a terminal would get, drawn as HTML. */
import type { Browser } from 'playwright-core';
import type { RequestView } from '../../src/agent/events.ts';
import { renderFrame } from '../../src/cli/agent/screen-frame.ts';

const NOW = Date.UTC(2026, 10, 25, 10, 41, 7);
const SIZE = { columns: 84, rows: 24, color: true, unicode: true };

const REQUESTS: ReadonlyArray<readonly [method: string, path: string, status: number, ms: number]> = [
  ['GET', '/', 200, 14],
  ['GET', '/assets/app.js', 200, 3],
  ['GET', '/api/cart', 200, 22],
  ['POST', '/webhooks/github', 204, 41],
  ['GET', '/admin', 403, 1],
  ['POST', '/api/orders', 201, 63],
];

function frame(): string {
  const requests = REQUESTS.map(([method, path, status, ms], i): RequestView => {
    const at = NOW - (REQUESTS.length - i) * 1_700;
    return { tunnel: 'http', at, method, path, status, ms };
  });
  const url = 'https://shop.example.com';
  return renderFrame(
    {
      view: {
        ...{ state: 'online', server: 'https://culvert.example.com:8443', account: 'ann@example.com', rttMs: 12 },
        ...{ inFlight: 0, cause: undefined, retryAt: undefined, relays: [] },
        tunnels: [
          {
            ...{ name: 'http', protocol: 'http', target: 'localhost:3000', state: 'online', url },
            ...{ tunnelId: undefined, expiresAt: null, reason: undefined, fault: undefined },
          },
        ],
      },
      ...{ requests, now: NOW, warning: undefined, page: 'http://127.0.0.1:4040', notice: undefined },
    },
    SIZE,
  );
}

/** SGR codes of base styles → CSS. The codes that end a style close its element. */
const STYLES: Readonly<Record<string, string>> = {
  1: 'font-weight:700',
  2: 'opacity:.6',
  4: 'text-decoration:underline',
  31: 'color:#ff7b72',
  32: 'color:#57c7aa',
  33: 'color:#e3b341',
  36: 'color:#79c0ff',
};

function htmlOf(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // oxlint-disable-next-line no-control-regex
  return escaped.replace(/\u001b\[(\d+)m/g, (_, code: string) => {
    const style = STYLES[code];
    return style === undefined ? '</span>' : `<span style="${style}">`;
  });
}

/** Writes the picture to `path`. */
export async function shootTerminal(browser: Browser, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 820, height: 420 }, deviceScaleFactor: 1.5 });
  const command = '<span style="opacity:.6">$</span> culvert http 3000 --subdomain shop\n\n';
  await page.setContent(
    `<!doctype html><meta charset="utf-8"><body style="margin:0;background:#121615;color:#e6ebe9">
<pre style="margin:0;padding:20px 24px;font:15px/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace">${command}${htmlOf(frame())}</pre>`,
  );
  await page.locator('pre').screenshot({ path });
  await page.close();
}
