/** The kinds of action of a traffic policy: what each is called, what it does, and in which order the edge asks them. Pure. */
import type { Schemas } from '../../api/types.ts';

export type Policy = NonNullable<Schemas['TrafficPolicy']>;
export type Action = Policy['actions'][number];
export type Kind = Action['kind'];

export const MAX_ACTIONS = 16;

export interface KindEntry {
  readonly kind: Kind;
  readonly title: string;
  /** One line for people who have never used it. */
  readonly about: string;
  /** At most one of a policy. */
  readonly single?: true;
  /** Sets something, and refuses nothing. */
  readonly setsHeader?: true;
  /** Of tcp tunnels too. */
  readonly forTcp?: true;
  /** A new one, with nothing filled in. */
  readonly blank: Action;
}

/** In the order in which they are asked, whatever the order of the actions in the policy. */
export const KINDS: readonly KindEntry[] = [
  {
    kind: 'ip_deny',
    title: 'Block addresses',
    about: 'Blocks visitors from these addresses and networks.',
    forTcp: true,
    blank: { kind: 'ip_deny', networks: [], enforce: true },
  },
  {
    kind: 'ip_allow',
    title: 'Allow addresses',
    about: 'Blocks visitors from other addresses.',
    forTcp: true,
    blank: { kind: 'ip_allow', networks: [], enforce: true },
  },
  {
    kind: 'deny',
    title: 'Block a path',
    about: 'Blocks requests whose path begins with this, in any encoding.',
    blank: { kind: 'deny', path_prefix: '', enforce: true },
  },
  {
    kind: 'jwt_validation',
    title: 'Require a JWT',
    about: 'Blocks requests without a valid bearer token from your identity provider.',
    single: true,
    blank: { kind: 'jwt_validation', allowed_issuers: [], allowed_audiences: [], jwks_url: null, enforce: true },
  },
  {
    kind: 'rate_limit',
    title: 'Limit rate',
    about: 'Blocks requests over the limit within 60 seconds.',
    single: true,
    blank: { kind: 'rate_limit', requests_per_minute: 60, per_client_ip: true, enforce: true },
  },
  {
    kind: 'header_set',
    title: 'Set request header',
    about: "Sets a header of the request, and replaces the visitor's value.",
    setsHeader: true,
    blank: { kind: 'header_set', name: '', value: '', enforce: true },
  },
  {
    kind: 'response_header_set',
    title: 'Set response header',
    about: "Sets a header of the response, and replaces your service's value.",
    setsHeader: true,
    blank: { kind: 'response_header_set', name: '', value: '', enforce: true },
  },
];

/** Undefined: of a server that knows more than this page. */
export function entryOf(kind: string): KindEntry | undefined {
  return KINDS.find((entry) => entry.kind === kind);
}

/** What may still be added; each that may not, with why. */
export function addable(
  actions: readonly Action[],
  protocol: string,
): ReadonlyArray<{ readonly entry: KindEntry; readonly blocked: string | undefined }> {
  const isFull = actions.length >= MAX_ACTIONS;
  return KINDS.filter(({ forTcp }) => protocol !== 'tcp' || forTcp === true).map((entry) => {
    const isTaken = entry.single === true && actions.some(({ kind }) => kind === entry.kind);
    return {
      entry,
      blocked: isTaken
        ? 'A policy can have only one.'
        : isFull
          ? `A policy can have at most ${MAX_ACTIONS} actions.`
          : undefined,
    };
  });
}

/** Places of the actions in the order in which they are asked. */
export function askedOrder(actions: ReadonlyArray<{ readonly kind: string }>): number[] {
  const rank = (kind: string): number => KINDS.findIndex((entry) => entry.kind === kind);
  return actions
    .map((_, index) => index)
    .sort((a, b) => rank(actions[a]?.kind ?? '') - rank(actions[b]?.kind ?? '') || a - b);
}

/** What the action says beside its kind, in one line. */
export function ruleText(action: Action): string {
  switch (action.kind) {
    case 'deny':
      return action.path_prefix;
    case 'ip_allow':
    case 'ip_deny':
      return action.networks.join(', ');
    case 'rate_limit':
      return `${action.requests_per_minute} a minute${action.per_client_ip ? ' per visitor' : ' in total'}`;
    case 'jwt_validation':
      return action.allowed_issuers.length === 0 ? 'any issuer' : action.allowed_issuers.join(', ');
    case 'header_set':
    case 'response_header_set':
      return `${action.name}: ${action.value}`;
    default:
      action satisfies never;
      // Of a server that knows more than this page.
      return '';
  }
}
