// group: slow
/** Every dialog, drawer and menu that a page opens by a button: axe-core finds nothing serious in light and dark, and it fits a phone. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inReverse } from '../harness/ends.ts';
import { type Seeded, startSeeded } from './seeded.ts';
import { DESKTOP, NO_CHROMIUM, noSeriousFinding, PHONE, settled, shoot } from './fixture.ts';

/** Of a page (seeded.ts): names of the buttons, each with the entry of the menu that it opens, if the dialog is behind one. */
const DIALOGS: Readonly<Record<string, ReadonlyArray<readonly [button: string, entry?: string]>>> = {
  overview: [['Connect an agent'], ['Search'], ['Your account']],
  tunnels: [
    ['New tunnel'],
    ['Actions for shop', 'Stop'],
    ['Actions for shop', 'Start maintenance'],
    ['Actions for shop', 'Delete tunnel'],
  ],
  'tunnel-policy': [['Add action'], ['Remove policy']],
  domains: [['Add domain']],
  names: [['Release the name acme']],
  networks: [['New network']],
  network: [
    ['Edit'],
    ['Delete'],
    ['Change server'],
    ['Show config'],
    ['Enroll device'],
    ['Actions for laptop', 'Revoke'],
  ],
  inspector: [['List actions', 'Delete recorded requests'], ['Saved filters']],
  request: [['Replay'], ['Request actions']],
  connections: [['Disconnect .*']],
  webhooks: [['New receiver']],
  webhook: [['Send test'], ['Edit'], ['New secret'], ['Delete'], ['Change'], ['Redeliver range'], ['release']],
  alerts: [['New alert'], ['Actions for Tunnel offline.*', 'Edit'], ['Actions for Tunnel offline.*', 'Delete']],
  keys: [
    ['New key'],
    ['New metrics key'],
    ['ci pipeline'],
    ...['Edit limits', 'Set budget', 'Rotate', 'Revoke'].map(
      (entry) => ['Actions for the key ci pipeline', entry] as const,
    ),
  ],
  projects: [['New project']],
  project: [['Rename'], ['Delete project']],
  members: [
    ['Invite member'],
    ['Actions for vera@example.test', 'Change role'],
    ['Actions for vera@example.test', 'Remove member'],
  ],
  organization: [['New organization']],
  billing: [['Change to Free']],
  audit: [['Export']],
  account: [['Change password'], ['Set up']],
  'operator-users': [
    ['New account'],
    ['Actions for vera@example.test', 'Reset password'],
    ['Actions for vera@example.test', 'Lock account'],
  ],
  'operator-organizations': [
    ['Actions for vera', 'Change plan'],
    ['Actions for vera', 'Suspend'],
  ],
  'operator-keys': [['Rotate the signing key: Logins']],
};

/** Evaluated in a page: by how many pixels what is open is wider than its own box, or than the window. */
const TOO_WIDE = `Math.max(...[...document.querySelectorAll('[role=dialog], [role=menu]')].map((opened) =>
  opened.scrollWidth - Math.min(opened.clientWidth, innerWidth)))`;

suite('every dialog', { timeout: 500_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let seeded: Seeded;
  before(async () => {
    seeded = await startSeeded(ends);
  });

  const names = Object.keys(DIALOGS);
  const PARTS = 4;
  for (let part = 0; part < PARTS; part++)
    test(`every dialog: no serious axe-core finding, and all fits a phone, part ${part + 1} of ${PARTS}`, async (t) => {
      const page = await seeded.open(t, '/');
      const wrong: string[] = [];
      for (const name of names.filter((_, index) => index % PARTS === part))
        for (const [button, entry] of DIALOGS[name] ?? []) {
          const path = seeded.places.find((place) => place.name === name)?.path ?? '';
          await look(page, `${seeded.culvert.apiUrl}/app${path}`, [button, entry], name).catch((error: Error) =>
            wrong.push(`${name}, ${button} ${entry ?? ''}: ${error.message}`),
          );
        }
      assert.deepEqual(wrong, []);
    });
});

async function look(
  page: Page,
  url: string,
  [button, entry]: readonly [string, string | undefined],
  name: string,
): Promise<void> {
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(url);
  await settled(page);
  const opener = page
    .getByRole('main')
    .or(page.getByRole('banner'))
    .getByRole('button', { name: new RegExp(`^${button}$`) });
  await opener.first().click({ timeout: 10_000 });
  if (entry !== undefined) await page.getByRole('menuitem', { name: entry, exact: true }).click({ timeout: 10_000 });
  const opened = page.getByRole('dialog').or(page.getByRole('menu')).first();
  await opened.waitFor({ timeout: 10_000 });
  await noSeriousFinding(page, ['color-contrast', 'link-in-text-block']);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await noSeriousFinding(page);
  await shoot(page, `dialog-${name}-${button}-${entry ?? ''}`.replaceAll(/[^a-z0-9-]/gi, ''));
  await page.setViewportSize(PHONE);
  await noSeriousFinding(page, ['button-name', 'label', 'link-name']);
  await shoot(page, `dialog-${name}-${button}-${entry ?? ''}-phone`.replaceAll(/[^a-z0-9-]/gi, ''));
  const tooWide = await page.evaluate<number>(TOO_WIDE);
  assert.ok(tooWide <= 0, `${tooWide} pixels too wide on a phone`);
}
