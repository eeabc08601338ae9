/** Where alerts are sent to: settings of a channel, and what of them may be shown. Pure. */
import { given } from '../../../../base/given.ts';
import { isSigningSecret, newSigningSecret } from '../../../../signatures/sign.ts';
import type { alertChannels } from '../../../db/schema.ts';

export type ChannelType = (typeof alertChannels.$inferSelect)['type'];

/** All that a message needs. Sealed in the database. */
export type Channel =
  | { readonly type: 'email'; readonly to: string }
  | { readonly type: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly type: 'slack' | 'discord'; readonly url: string }
  | { readonly type: 'ntfy'; readonly url: string; readonly token?: string }
  | { readonly type: 'pagerduty'; readonly routing_key: string; readonly url: string };

/** A link in an email, by the hash of its token. Channels of one organization to one address share it. */
export interface PendingLink {
  readonly confirmHash: string;
  /** Milliseconds since the epoch. */
  readonly confirmUntil: number;
}

/** As a caller sends it: what is absent stays as it is in the channel with this id. */
export interface ChannelInput {
  readonly id?: string | undefined;
  readonly type: ChannelType;
  readonly to?: string | undefined;
  readonly url?: string | undefined;
  readonly secret?: string | undefined;
  readonly token?: string | null | undefined;
  readonly routing_key?: string | undefined;
}

export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

export interface MadeChannel {
  readonly channel: Channel;
  /** A secret that was made for it, which its owner sees once. */
  readonly newSecret: string | null;
}

type Field = 'to' | 'url' | 'secret' | 'token' | 'routing_key';

const FIELDS: Readonly<Record<ChannelType, readonly Field[]>> = {
  email: ['to'],
  webhook: ['url', 'secret'],
  slack: ['url'],
  discord: ['url'],
  ntfy: ['url', 'token'],
  pagerduty: ['url', 'routing_key'],
};

/** What is wrong with a channel: a field, and the end of a sentence about it. */
export interface ChannelProblem {
  readonly field: string;
  readonly problem: string;
}

/** The channel that was asked for. `before`: the one with the same id. */
export function channelOf(input: ChannelInput, before?: Channel): MadeChannel | ChannelProblem {
  const foreign = (['to', 'url', 'secret', 'token', 'routing_key'] as const).find(
    (field) => input[field] !== undefined && !FIELDS[input.type].includes(field),
  );
  if (foreign !== undefined) return { field: foreign, problem: `is not a field of ${input.type} channels` };
  if (input.secret !== undefined && !isSigningSecret(input.secret))
    return { field: 'secret', problem: 'must be whsec_ followed by base64 of 24 to 64 bytes' };
  return moved(input, before) ?? merged(input, before);
}

/** Sent along with each message. A signing secret is not: signatures do not reveal it. */
const CREDENTIALS = ['token', 'routing_key'] as const;

/** A kept credential goes to the same server: a member who may change a rule must not redirect it to another server. */
function moved(input: ChannelInput, before: Channel | undefined): ChannelProblem | undefined {
  if (before === undefined || before.type === 'email' || before.type !== input.type) return undefined;
  const { url } = input;
  if (url === undefined || url === targetOf(before) || URL.parse(url)?.origin === new URL(before.url).origin)
    return undefined;
  const field = CREDENTIALS.find((one) => one in before && input[one] === undefined);
  return field === undefined
    ? undefined
    : { field, problem: 'must be entered again: with the new url, it is sent to another server' };
}

function merged(input: ChannelInput, before: Channel | undefined): MadeChannel | ChannelProblem {
  const old: Partial<Record<Field, string>> = before?.type === input.type ? before : {};
  const url = input.url === undefined || (before !== undefined && input.url === targetOf(before)) ? old.url : input.url;
  switch (input.type) {
    case 'email': {
      const to = input.to ?? old.to;
      return to === undefined ? missing('to') : plain({ type: 'email', to });
    }
    case 'webhook': {
      if (url === undefined) return missing('url');
      const secret = input.secret ?? old.secret;
      if (secret !== undefined) return plain({ type: 'webhook', url, secret });
      const newSecret = newSigningSecret();
      return { channel: { type: 'webhook', url, secret: newSecret }, newSecret };
    }
    case 'slack':
    case 'discord':
      return url === undefined ? missing('url') : plain({ type: input.type, url });
    case 'ntfy': {
      const token = input.token === null ? undefined : (input.token ?? old.token);
      return url === undefined ? missing('url') : plain({ type: 'ntfy', url, ...given({ token }) });
    }
    case 'pagerduty': {
      const key = input.routing_key ?? old.routing_key;
      if (key === undefined) return missing('routing_key');
      return plain({ type: 'pagerduty', routing_key: key, url: url ?? PAGERDUTY_URL });
    }
    default:
      return input.type satisfies never;
  }
}

function missing(field: Field): ChannelProblem {
  return { field, problem: 'is required' };
}

function plain(channel: Channel): MadeChannel {
  return { channel, newSecret: null };
}

/** What is shown of where it leads: nothing that lets a reader post there. */
export function targetOf(channel: Channel): string {
  switch (channel.type) {
    case 'email':
      return channel.to;
    case 'slack':
    case 'discord':
      return `${new URL(channel.url).origin}/…`;
    case 'pagerduty':
      return channel.url;
    default: {
      const { origin, pathname, search } = new URL(channel.url);
      return `${origin}${pathname}${search === '' ? '' : '?…'}`;
    }
  }
}

/** The address that it posts to; null: it is no HTTP. */
export function urlOf(channel: Channel): string | null {
  return channel.type === 'email' ? null : channel.url;
}
