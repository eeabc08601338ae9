/** Bytes that the browser saves as a file, never opens. */

/** How long the browser may take to begin; the bytes are in memory until then. */
const RELEASE_MS = 10_000;

export function saveBytes(bytes: BlobPart, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_MS);
}
