/** Messages in the formats of the services that take them. Pure. */
import type { Post } from '../../../../base/net/outbound/guarded-post.ts';
import { signedHeaders } from '../../../../signatures/sign.ts';
import type { Channel } from './channels.ts';
import { headline, type Notice, type NoticeItem, spanText } from './notices.ts';

type Outgoing = Omit<Post, 'signal'>;

export interface Sending {
  /** The same at each attempt. */
  readonly id: string;
  /** Now, milliseconds. */
  readonly at: number;
  /** Of the API, without a slash at its end: links start with it. */
  readonly publicUrl: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json', 'User-Agent': 'Culvert-Alerts' };

/** What is posted, in this order. */
export function postsOf(
  channel: Exclude<Channel, { type: 'email' }>,
  notice: Notice,
  to: Sending,
): readonly Outgoing[] {
  switch (channel.type) {
    case 'webhook':
      return [webhook(channel, notice, to)];
    case 'slack':
      return [{ headers: JSON_TYPE, body: JSON.stringify(slack(notice, to)) }];
    case 'discord':
      return [{ headers: JSON_TYPE, body: JSON.stringify(discord(notice, to)) }];
    case 'ntfy':
      return [ntfy(channel, notice, to)];
    case 'pagerduty':
      return pagerduty(channel, notice, to);
    default:
      return channel satisfies never;
  }
}

const linkTo = ({ href }: NoticeItem, { publicUrl }: Sending): string => `${publicUrl}${href}`;
const moreText = ({ more }: Notice): string => (more === 0 ? '' : `and ${more} more`);

/** The whole message as lines of text. */
export function linesOf(notice: Notice): readonly string[] {
  const lines = notice.items.flatMap((item) => [
    ...(notice.items.length === 1 ? [] : [`${item.title}.`]),
    item.detail,
    `${spanText(item, notice.at)}.`,
  ]);
  return notice.more === 0 ? lines : [...lines, moreText(notice)];
}

function webhook({ secret }: { readonly secret: string }, notice: Notice, to: Sending): Outgoing {
  const body = JSON.stringify({
    type: `alert.${notice.event}`,
    timestamp: new Date(notice.at).toISOString(),
    data: {
      alert_id: notice.ruleId,
      kind: notice.kind,
      organization: notice.organization,
      summary: headline(notice),
      incidents: notice.items.map((item) => ({
        id: item.id,
        object: item.object,
        title: item.title,
        detail: item.detail,
        since: new Date(item.since).toISOString(),
        recovered_at: item.endedAt === null ? null : new Date(item.endedAt).toISOString(),
        url: linkTo(item, to),
      })),
      more: notice.more,
    },
  });
  return { headers: { ...JSON_TYPE, ...signedHeaders(secret, { ...to, body }) }, body };
}

const SLACK_SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const slackText = (text: string): string => text.replaceAll(/[&<>]/g, (sign) => SLACK_SIGNS[sign] ?? sign);
const MARKS = { fired: '🔴', reminder: '🔴', recovered: '✅', test: '🔔' } as const;

// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
function slack(notice: Notice, to: Sending) {
  const text = `${MARKS[notice.event]} ${headline(notice)}`;
  const section = (mrkdwn: string) => ({ type: 'section', text: { type: 'mrkdwn', text: mrkdwn } });
  return {
    text: slackText(text),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: text.slice(0, 150), emoji: true } },
      ...notice.items.map((item) =>
        section(
          `*<${linkTo(item, to)}|${slackText(item.title)}>*\n${slackText(item.detail)}\n${spanText(item, notice.at)}`.slice(
            0,
            3_000,
          ),
        ),
      ),
      ...(notice.more === 0 ? [] : [section(moreText(notice))]),
      {
        type: 'context',
        elements: [{ type: 'plain_text', text: `Culvert · ${notice.organization.name}`.slice(0, 300) }],
      },
    ],
  };
}

const COLOURS = { fired: 0xe0_31_31, reminder: 0xe0_31_31, recovered: 0x2f_9e_44, test: 0x22_8b_e6 } as const;
/** Discord takes so many. */
const MAX_EMBEDS = 10;

// https://docs.discord.com/developers/resources/webhook#execute-webhook
function discord(notice: Notice, to: Sending) {
  const left = Math.max(0, notice.items.length - MAX_EMBEDS) + notice.more;
  const content = `${MARKS[notice.event]} ${headline(notice)}${left === 0 ? '' : ` (${left} not shown)`}`;
  return {
    content,
    // A name can be `@everyone`.
    allowed_mentions: { parse: [] },
    embeds: notice.items.slice(0, MAX_EMBEDS).map((item) => ({
      title: item.title.slice(0, 256),
      description: `${item.detail}\n${spanText(item, notice.at)}`.slice(0, 2_000),
      url: linkTo(item, to),
      color: COLOURS[notice.event],
      timestamp: new Date(notice.at).toISOString(),
      footer: { text: `Culvert · ${notice.organization.name}`.slice(0, 256) },
    })),
  };
}

const TAGS = {
  fired: 'rotating_light',
  reminder: 'rotating_light',
  recovered: 'white_check_mark',
  test: 'bell',
} as const;

// https://docs.ntfy.sh/publish/
function ntfy({ token }: { readonly token?: string }, notice: Notice, to: Sending): Outgoing {
  const [first] = notice.items;
  return {
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'User-Agent': JSON_TYPE['User-Agent'],
      Title: headerText(headline(notice)),
      Priority: notice.event === 'fired' ? '4' : '3',
      Tags: TAGS[notice.event],
      ...(first === undefined ? {} : { Click: linkTo(first, to) }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: linesOf(notice).join('\n').slice(0, 4_000),
  };
}

/** RFC 2047 where it is not ASCII: ntfy reads it. */
function headerText(text: string): string {
  return /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

const SEVERITIES = {
  tunnel_offline: 'critical',
  error_rate: 'error',
  latency_p95: 'warning',
  webhook_failing: 'error',
  certificate: 'error',
  budget: 'warning',
  new_address: 'warning',
} as const;

// https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
function pagerduty(
  { routing_key }: { readonly routing_key: string },
  notice: Notice,
  to: Sending,
): readonly Outgoing[] {
  const [item] = notice.items;
  if (item === undefined) return [];
  const event = (action: 'trigger' | 'resolve', more: object = {}): Outgoing => ({
    headers: JSON_TYPE,
    body: JSON.stringify({ routing_key, event_action: action, dedup_key: `culvert-${item.id}`, ...more }),
  });
  if (notice.event === 'recovered') return [event('resolve')];
  const trigger = event('trigger', {
    payload: {
      summary: headline(notice).slice(0, 1_024),
      source: item.object.id,
      severity: notice.event === 'test' ? 'info' : SEVERITIES[notice.kind],
      timestamp: new Date(item.since).toISOString(),
      component: item.object.type,
      group: notice.organization.name,
      class: notice.kind,
      custom_details: { detail: item.detail },
    },
    links: [{ href: linkTo(item, to), text: 'Open in Culvert' }],
    client: 'Culvert',
    client_url: `${to.publicUrl}/app/alerts`,
  });
  // A test leaves no open incident behind.
  return notice.event === 'test' ? [trigger, event('resolve')] : [trigger];
}
