/** A QR code on a terminal is read by a decoder that has never seen the encoder, on a dark and on a light screen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import jsQR from 'jsqr';
import { qrCode } from './qr-code.ts';

const CONFIG = [
  '[Interface]',
  'PrivateKey = dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=',
  'Address = 10.80.0.2/32',
  'MTU = 1400',
  '[Peer]',
  'PublicKey = 3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=',
  'Endpoint = tunnel.example.com:30000',
  'AllowedIPs = 10.80.0.0/24',
  'PersistentKeepalive = 25',
].join('\n');

/** Pixels of one module, as a camera has several. */
const ZOOM = 3;

/** What a camera sees of these lines: each cell is two modules high. `light` where a cell is drawn in the foreground. */
function decoded(lines: readonly string[], foreground: number): string | undefined {
  const width = (lines[0] ?? '').length * ZOOM;
  const height = lines.length * 2 * ZOOM;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const row = Math.floor(y / ZOOM);
      const cell = lines[Math.floor(row / 2)]?.[Math.floor(x / ZOOM)] ?? ' ';
      const isDrawn = cell === '█' || cell === (row % 2 === 0 ? '▀' : '▄');
      pixels.fill(isDrawn ? foreground : 255 - foreground, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  return jsQR.default(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data;
}

test('with colours it is black on white, whatever the terminal has', () => {
  const { lines, columns } = qrCode(CONFIG, { color: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  for (const line of lines) assert.match(line, /^\u001b\[38;5;16;48;5;231m[ █▀▄]+\u001b\[0m$/);
  const plain = lines.map(stripVTControlCharacters);
  for (const line of plain) assert.equal(line.length, columns);
  assert.equal(decoded(plain, 0), CONFIG);
});

test('without colours it is right on a dark terminal', () => {
  const { lines } = qrCode(CONFIG, { color: false });
  assert.equal(decoded(lines, 255), CONFIG);
});

test('there are four light modules on all sides', () => {
  for (const color of [true, false]) {
    const { lines, columns } = qrCode(CONFIG, { color });
    const light = color ? ' ' : '█';
    const plain = lines.map(stripVTControlCharacters);
    for (const line of plain) assert.ok(line.startsWith(light.repeat(4)) && line.endsWith(light.repeat(4)), line);
    for (const line of [...plain.slice(0, 2), ...plain.slice(-2)]) assert.equal(line, light.repeat(columns));
  }
});

test('a usual configuration fits a window of 80 columns', () => {
  const { columns, lines } = qrCode(CONFIG, { color: true });
  assert.ok(columns <= 80 && lines.length <= 40, `${columns} x ${lines.length}`);
});
