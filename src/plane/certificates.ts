/**
 * What the control plane gives a data node so that it can speak TLS, and prove names to a certificate authority. Plain cloneable data.
 */

/** A chain and its key, as visitors get it. */
export interface EdgeCertificate {
  /** PEM, leaf first. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** What an authority may ask the edge about a name while an order for it runs (RFC 8555 §8.3, RFC 8737). */
export type EdgeChallenge =
  | {
      readonly type: 'http-01';
      /** Lower case. */
      readonly name: string;
      /** The last part of the path below `/.well-known/acme-challenge/`. */
      readonly token: string;
      /** The body of the answer. */
      readonly keyAuthorization: string;
    }
  | {
      readonly type: 'tls-alpn-01';
      readonly name: string;
      /** Shown to those alone that speak `acme-tls/1` and ask for this name. */
      readonly certificate: EdgeCertificate;
    };
