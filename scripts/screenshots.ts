/**
 * `npm run screenshots -- [--out FOLDER] [--only NAME,NAME]`: every page of the dashboard on a desktop and a phone, light and dark, of a server with
 * something of everything (test/dashboard/seeded.ts), as PNG files: `<page>-<desktop|phone>-<light|dark>.png`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSeeded } from '../test/dashboard/seeded.ts';
import { DESKTOP, PHONE, settled } from '../test/dashboard/world.ts';
import { Ending } from '../test/harness/ends.ts';

const { values } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } });
const out = values.out ?? 'screenshots';
const only = values.only?.split(',');
mkdirSync(out, { recursive: true });

const ending = new Ending();
try {
  const seeded = await startSeeded(ending);
  const places = seeded.places.filter(({ name }) => only === undefined || only.includes(name));
  for (const [size, viewport] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const stranger of [true, false]) {
        const as = stranger ? null : seeded.owner;
        const page = await seeded.open(ending, '/', { as, context: { viewport, colorScheme } });
        for (const { name, path } of places.filter((one) => (one.stranger === true) === stranger)) {
          await page.goto(`${seeded.culvert.apiUrl}/app${path}`);
          await settled(page);
          await page.screenshot({ path: join(out, `${name}-${size}-${colorScheme}.png`), fullPage: true });
        }
      }
      console.log(`${size}, ${colorScheme}: ${places.length} pages`);
    }
  }
} finally {
  await ending.run();
}
console.log(`look at them in ${out}`);
