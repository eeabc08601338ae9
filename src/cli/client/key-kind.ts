/**
 * Tells a master key from keys that open tunnels, before anything is sent: a master key mints keys, and is not to be shown to every server
 * that an agent dials. The server decides; this only answers sooner. Used by run-agent.ts and by the commands that manage.
 */
const MASTER_PREFIX = 'mtk_master_';
/**
 * The private claim -65538 (the kind) with the text "master", as canonical CBOR (RFC 8949) has it in the payload of a wire form: twelve bytes that
 * nothing else in there can hold. Names in it are made of letters, digits and dashes; in the 32 bytes of chance and the signature they do not come up.
 */
const MASTER_CLAIM = Buffer.concat([Buffer.from('3a0001000166', 'hex'), Buffer.from('master')]);

/** True for a master key, as text or in its base64 wire form. */
export function isMasterKey(key: string): boolean {
  return (
    key.startsWith(MASTER_PREFIX) || (!key.startsWith('mtk_') && Buffer.from(key, 'base64').includes(MASTER_CLAIM))
  );
}
