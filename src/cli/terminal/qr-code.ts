/**
 * A text as a QR code for a terminal: two modules per cell, one above the other, by half blocks. Dark is dark and light is light whatever colours the
 * terminal has, and the quiet zone of four modules is part of it: a camera finds no code without. Used by config-delivery.ts.
 */
import { encode } from 'uqr';

const QUIET_MODULES = 4;
/** Black on white of the 256 colours that no theme changes. */
const COLOR = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';

export interface QrCode {
  readonly columns: number;
  readonly lines: readonly string[];
}

/**
 * The lowest error correction, so that the code is as small as it can be: a screen has no stains. Without `color` light modules are drawn in the
 * terminal's foreground, which is right where that is the lighter one.
 */
export function qrCode(text: string, options: { color: boolean }): QrCode {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_MODULES });
  const isDark = (row: number, column: number): boolean => data[row]?.[column] ?? false;
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    let line = '';
    for (let column = 0; column < size; column += 1) {
      line += cellOf(isDark(row, column) === options.color, isDark(row + 1, column) === options.color);
    }
    lines.push(options.color ? `${COLOR}${line}${RESET}` : line);
  }
  return { columns: size, lines };
}

function cellOf(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀';
  return lower ? '▄' : ' ';
}
