/** A random password: 24 characters, none of which is taken for another when it is read out; about 130 bits. */

const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 24;

export function newPassword(): string {
  let password = '';
  // What would make some characters likelier than others is thrown away.
  const fair = 256 - (256 % ALPHABET.length);
  while (password.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < fair && password.length < LENGTH) password += ALPHABET[byte % ALPHABET.length] ?? '';
    }
  }
  return password;
}
