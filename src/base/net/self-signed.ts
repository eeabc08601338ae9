/** Whether a certificate was signed by an authority. */
import { X509Certificate } from 'node:crypto';

/** True when no authority signed it: agents must then pin its key. */
export function isSelfSigned(cert: string): boolean {
  const leaf = new X509Certificate(cert);
  // Not checkIssued: that asks for a CA, which a pinned leaf is not.
  return leaf.subject === leaf.issuer && leaf.verify(leaf.publicKey);
}
