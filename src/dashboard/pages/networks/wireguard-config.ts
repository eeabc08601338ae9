/** What is done in the browser with a WireGuard config that the server has rendered: the private key takes its place, and the file gets a name. Pure. */

/** Only at the head of a line: names stand in remarks, and may say anything. */
const PLACEHOLDER = /^PrivateKey = REPLACE_WITH_PRIVATE_KEY$/m;
/** What an interface may be called: wg-quick makes it of the name of the file. */
const INTERFACE_NAME = /^[a-zA-Z0-9_=+.-]{1,15}$/;
const LONGEST_INTERFACE_NAME = 15;

/** Undefined when the config has no place for a key: a server of another version. */
export function withKey(config: string, privateKey: string): string | undefined {
  if (!PLACEHOLDER.test(config)) return undefined;
  return config.replace(PLACEHOLDER, () => `PrivateKey = ${privateKey}`);
}

/** The config as a machine needs it: a smaller QR code. */
export function withoutRemarks(config: string): string {
  const lines = config.split('\n').map((line) => line.replace(/#.*$/, '').trimEnd());
  return lines.filter((line) => line !== '').join('\n');
}

/** `laptop` of "Laptop"; what can't be in a name of an interface becomes `-`, and one of nothing else `wg-culvert`. */
export function interfaceOf(name: string): string {
  if (INTERFACE_NAME.test(name) && !name.startsWith('-')) return name;
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, '-')
    .slice(0, LONGEST_INTERFACE_NAME)
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? 'wg-culvert' : plain;
}

export function fileNameOf(name: string): string {
  return `${interfaceOf(name)}.conf`;
}
