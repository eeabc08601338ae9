/** What certificates by ACME are made with: from settings, and from providers. */
import type { EdgeCertificate, EdgeChallenge } from '../../plane/certificates.ts';
import type { CertificateAuthority, ChallengeAnswer, ChallengeSolver } from '../providers/acme/contract.ts';
import type { Ranks } from './precedence.ts';
import type { CertificateNames } from './order-terms.ts';

/** `[acme]` of the settings, where `edge.tls.mode` is "acme". */
export interface AcmeSetup extends CertificateNames, Ranks {
  readonly directoryUrl: string;
  readonly email: string | null;
  /** New names below edge.domain in any seven days. */
  readonly maxNewPerWeek: number;
  readonly authority: CertificateAuthority;
  /** Publishes TXT records; null unless `challenge` is dns-01. */
  readonly dns: ChallengeSolver | null;
  /** The certificate that answers tls-alpn-01. */
  readonly alpnCertificate: (answer: ChallengeAnswer) => Promise<EdgeCertificate>;
}

/** The edge, as far as certificates go. */
export interface CertificateEdge {
  /** All that there are, by name: replaces what was set before. */
  setCertificates(shown: ReadonlyMap<string, EdgeCertificate>): void;
  /** All questions of authorities that are to be answered now, likewise. */
  setChallenges(list: readonly EdgeChallenge[]): Promise<void>;
}
