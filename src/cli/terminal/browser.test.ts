/** When a browser is opened, and with what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserCommand } from './browser.ts';

const URL_TEXT = 'https://tunnel.example.com/app/cli?device_code=x';

test('a screen gets the browser of its system, as one argument that no shell reads', () => {
  assert.deepEqual(browserCommand(URL_TEXT, 'linux', { DISPLAY: ':0' }), ['xdg-open', URL_TEXT]);
  assert.deepEqual(browserCommand(URL_TEXT, 'linux', { WAYLAND_DISPLAY: 'wayland-0' }), ['xdg-open', URL_TEXT]);
  assert.deepEqual(browserCommand(URL_TEXT, 'darwin', {}), ['open', URL_TEXT]);
  assert.equal(browserCommand(URL_TEXT, 'win32', {})?.at(-1), URL_TEXT);
});

test('without a screen, and over SSH without one, none is opened', () => {
  assert.equal(browserCommand(URL_TEXT, 'linux', {}), undefined);
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    assert.equal(browserCommand(URL_TEXT, platform, { SSH_CONNECTION: '1 2 3 4' }), undefined);
  }
  assert.deepEqual(
    browserCommand(URL_TEXT, 'linux', { SSH_TTY: '/dev/pts/1', DISPLAY: 'localhost:10' })?.[0],
    'xdg-open',
  );
});
