/** The client of one ACME authority: the methods of `CertificateAuthority`, put together from the other files of this folder. */
import type { AcmeAccount, AcmeOptions, AcmeOrder, CertificateAuthority, IssuedCertificate } from '../acme.ts';
import { AcmeError } from '../acme.ts';

export class AcmeAuthority implements CertificateAuthority {
  readonly #options: AcmeOptions;

  constructor(options: AcmeOptions) {
    this.#options = options;
  }

  register(): Promise<AcmeAccount> {
    return Promise.reject(new AcmeError('network', `${this.#options.directoryUrl} is not asked yet`));
  }

  issue(_account: AcmeAccount, _order: AcmeOrder): Promise<IssuedCertificate> {
    return Promise.reject(new AcmeError('network', `${this.#options.directoryUrl} is not asked yet`));
  }

  renewalTime(): Promise<number | null> {
    return Promise.resolve(null);
  }
}
