/** Where the program is got from. Pure. */

/** The server runs on the reader's own machine. */
export function isHere({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')
  );
}

/** As in docs/install.md: into a folder of the person's own `PATH`. The brackets of an IPv6 address would mean something to a shell. */
export function copyCommand({ hostname }: URL): string {
  const host = hostname.startsWith('[') ? `'${hostname}'` : hostname;
  return `mkdir -p ~/.local/bin && scp ${host}:/usr/local/bin/culvert ~/.local/bin/`;
}
