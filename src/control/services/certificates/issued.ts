/** Looks at what an authority has sent before it is stored and shown: a broken pair would take the names down for weeks. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../../base/errors.ts';
import { AcmeError, type IssuedCertificate } from '../../providers/acme.ts';

/** Throws AcmeError `bad_answer` unless the chain can be shown with its key, and is good for all the names. */
export function checkIssued({ chain, key }: IssuedCertificate, names: readonly string[], now: number): void {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(chain);
    if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('its key is another one');
    createSecureContext({ cert: chain, key });
  } catch (cause) {
    throw new AcmeError('bad_answer', `The authority sent a certificate that does not work: ${messageOf(cause)}.`, {
      cause,
    });
  }
  const has = new Set((leaf.subjectAltName ?? '').toLowerCase().split(', '));
  const missing = names.find((name) => !has.has(`dns:${name}`));
  if (missing !== undefined) throw new AcmeError('bad_answer', `The authority sent a certificate without ${missing}.`);
  if (leaf.validToDate.getTime() <= now) {
    throw new AcmeError(
      'bad_answer',
      'The authority sent a certificate that has run out. Is the clock of this server right?',
    );
  }
}
