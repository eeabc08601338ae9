/**
 * Certificates of an ACME authority (RFC 8555), such as Let's Encrypt: accounts, orders, and when to renew (RFC 9773). The types are in
 * acme/contract.ts. The client itself is loaded at the first use, for its library takes 120 ms.
 */
import type { AcmeOptions, CertificateAuthority } from './acme/contract.ts';

/** Opens nothing yet. An authority that is away is found out by the first call. */
export function openAcme(options: AcmeOptions): CertificateAuthority {
  let loaded: Promise<CertificateAuthority> | undefined;
  const load = (): Promise<CertificateAuthority> => {
    loaded ??= import('./acme/authority.ts').then(({ AcmeAuthority }) => new AcmeAuthority(options));
    return loaded;
  };
  return {
    register: async (of) => (await load()).register(of),
    issue: async (account, order) => (await load()).issue(account, order),
    renewalTime: async (cert, signal) => (await load()).renewalTime(cert, signal),
  };
}
