/** What `edge.tls.mode = "acme"` needs of the other settings, and what is doubtful beside it. Called by conflicts.ts and warnings.ts. */
import { X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { isLoopback } from '../base/net/addr.ts';

import type { ServerFile } from './schema.ts';
import type { Conflict } from './toml.ts';

/** The first thing that keeps certificates from coming, if any. */
export function findAcmeModeGap({ acme, edge }: ServerFile): Conflict | undefined {
  if (edge.tls.mode !== 'acme') return undefined;
  if (edge.https_listen === null) {
    return {
      path: ['edge', 'tls', 'mode'],
      text: '"acme" needs edge.https_listen: set it, e.g. to "0.0.0.0:443"',
    };
  }
  if (acme.challenge === 'http-01' && edge.http_listen === null) {
    return {
      path: ['edge', 'http_listen'],
      text: 'is required for acme.challenge = "http-01": set it to a listener that port 80 leads to, or set acme.challenge = "tls-alpn-01"',
    };
  }
  // A private authority issues for whatever its owner likes.
  if (acme.ca_file === null && isPrivate(edge.domain)) {
    return {
      path: ['edge', 'tls', 'mode'],
      text: `"acme" needs a public domain, and no authority issues certificates for ${edge.domain}: set edge.domain, or choose "self_signed"`,
    };
  }
  return findFaultOfFiles(acme) ?? findFaultOfEmail(acme);
}

/** What each order would fail by, and the first visitor would find out. */
function findFaultOfFiles({ challenge, ca_file: caFile, dns_hook: hook }: ServerFile['acme']): Conflict | undefined {
  if (caFile !== null && !isCertificate(caFile)) {
    const text = `${caFile} is not a readable PEM certificate: set the root certificate of the authority, or remove this key`;
    return { path: ['acme', 'ca_file'], text };
  }
  if (challenge === 'dns-01' && hook !== null && !isProgram(hook)) {
    const text = `${hook} is not a program that this user can run: correct the path, or make it executable (chmod +x)`;
    return { path: ['acme', 'dns_hook'], text };
  }
  return undefined;
}

/** As authorities have it: one address, without a display name and without the header fields of a `mailto:`. */
function findFaultOfEmail({ email }: ServerFile['acme']): Conflict | undefined {
  if (email === null || /^[^\s@<>,?]+@[^\s@<>,?]+$/.test(email)) return undefined;
  return { path: ['acme', 'email'], text: 'is not an email address: write "you@example.com", or leave it out' };
}

function isCertificate(file: string): boolean {
  try {
    new X509Certificate(readFileSync(file));
    return true;
  } catch {
    return false;
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Never in public DNS (RFC 6761, RFC 6762, RFC 8375, and `internal`, which ICANN keeps free for this): a label without a dot neither. */
const PRIVATE = /(?:^|\.)(?:localhost|local|internal|test|invalid|home\.arpa|onion)$/;

function isPrivate(domain: string): boolean {
  const name = domain.toLowerCase();
  return !name.includes('.') || PRIVATE.test(name);
}

/** What works and is likely not to be meant. */
export function acmeDoubts({ accounts, acme, edge }: ServerFile): string[] {
  const out: string[] = [];
  if (acme.dns_hook !== null && acme.challenge !== 'dns-01') {
    out.push('acme.dns_hook: applies only to acme.challenge = "dns-01"');
  }
  if (edge.tls.mode !== 'acme') return out;
  const { http_listen: http, https_listen: https } = edge;
  if (
    acme.challenge === 'http-01' &&
    http !== null &&
    isLoopback(http.host) &&
    https !== null &&
    !isLoopback(https.host)
  ) {
    const instead = 'set a public address, e.g. "0.0.0.0:80", or acme.challenge = "tls-alpn-01"';
    out.push(
      `edge.http_listen: only this machine can reach it, but the certificate authority connects to port 80 from the internet: ${instead}`,
    );
  }
  if (edge.public_url?.startsWith('http:') === true) {
    out.push('edge.public_url: starts with "http://", but edge.tls.mode is "acme": use "https://"');
  }
  if (acme.challenge !== 'dns-01' && accounts.signup === 'open' && !accounts.require_approval) {
    const room = `the limit of ${acme.max_new_per_week} new certificates a week (acme.max_new_per_week)`;
    const instead =
      'set acme.challenge = "dns-01" for one wildcard certificate without this limit, or accounts.signup = "closed"';
    out.push(`accounts.signup: "open" lets any new user use up ${room}: ${instead}`);
  }
  return out;
}
