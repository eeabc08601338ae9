/**
 * A text as a QR code for a camera: dark on light in both colour schemes, for many apps read nothing else, and with the quiet zone of four modules
 * that a code needs to be found. One path of React's, no markup of strings.
 */
import { useMemo } from 'react';
import { encode } from 'uqr';

const QUIET_MODULES = 4;

interface QrCodeProps {
  readonly text: string;
  /** For screen readers: what is in it. */
  readonly label: string;
  /** Largest width, in pixels; it shrinks with its place. */
  readonly size?: number;
}

export function QrCode({ text, label, size = 280 }: QrCodeProps) {
  const { path, modules } = useMemo(() => drawn(text), [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      className="culvert-qr"
      viewBox={`0 0 ${modules} ${modules}`}
      width={size}
      height={size}
      shapeRendering="crispEdges"
    >
      <rect width={modules} height={modules} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** Runs of dark modules, row by row. */
function drawn(text: string): { readonly path: string; readonly modules: number } {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_MODULES });
  const runs: string[] = [];
  data.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue;
      const from = x;
      while (row[x + 1] === true) x++;
      runs.push(`M${from} ${y}h${x + 1 - from}v1H${from}z`);
    }
  });
  return { path: runs.join(''), modules: size };
}
