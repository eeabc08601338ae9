/** WireGuard in the browser: key pairs, and the private key in a configuration. Pure: tested without a browser. */

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

/**
 * WireGuard keys in the browser: a pair is made where its private half is shown, and that half is in no request. Browsers do it over https and on
 * localhost alone, and older ones know no X25519: then a public key is pasted.
 */
interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** What makes a public key elsewhere: the private one stays in its file. */
export const MAKE_KEY = 'umask 077; wg genkey | tee private.key | wg pubkey';

/** 32 bytes in base64, as `wg genkey` and `wg pubkey` write them: the last character holds four bits. */
const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const KEY_BYTES = 32;

export function isWireGuardKey(text: string): boolean {
  return KEY.test(text);
}

/** Undefined where the browser makes none. */
export async function makeKeyPair(): Promise<KeyPair | undefined> {
  // Absent where the page came by plain http, whatever the types say.
  const subtle: SubtleCrypto | undefined = globalThis.crypto.subtle;
  if (subtle === undefined) return undefined;
  try {
    const made: unknown = await subtle.generateKey({ name: 'X25519' }, true, ['deriveBits']);
    if (!isPair(made)) return undefined;
    const [pkcs8, raw] = await Promise.all([
      subtle.exportKey('pkcs8', made.privateKey),
      subtle.exportKey('raw', made.publicKey),
    ]);
    // The 32 bytes stand at the end of PKCS #8 (RFC 8410). WireGuard's own programs fix the bits of X25519 in them, and so is it done here.
    const bytes = new Uint8Array(pkcs8).slice(-KEY_BYTES);
    return { privateKey: base64Of(clamped(bytes)), publicKey: base64Of(new Uint8Array(raw)) };
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

type Key = Parameters<SubtleCrypto['exportKey']>[1];

function isPair(made: unknown): made is { readonly privateKey: Key; readonly publicKey: Key } {
  return typeof made === 'object' && made !== null && 'privateKey' in made && 'publicKey' in made;
}

/** RFC 7748, section 5. The public key is the same with and without. */
function clamped(bytes: Uint8Array): Uint8Array {
  bytes[0] = (bytes[0] ?? 0) & 0xf8;
  bytes[31] = ((bytes[31] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
