/** Words of alert rules: what they watch, their channels and states. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type Alert = Schemas['Alert'];
export type Incident = Schemas['AlertIncident'];
export type Kind = Alert['kind'];
export type ChannelType = Schemas['AlertChannel']['type'];

interface KindWords {
  readonly value: Kind;
  readonly label: string;
  /** One line of help. */
  readonly about: string;
  /** May it watch one tunnel? */
  readonly hasScope: boolean;
  /** Of its threshold; null: it has none. `scale`: what is shown for 1 of the API. */
  readonly threshold: {
    readonly label: string;
    readonly suffix: string;
    readonly standard: number;
    readonly most: number;
    readonly scale: number;
  } | null;
  /** Does it wait for `for_minutes`? */
  readonly waits: boolean;
}

export const KINDS: readonly KindWords[] = [
  {
    value: 'tunnel_offline',
    label: 'Tunnel offline',
    about: 'No agent serves a tunnel.',
    hasScope: true,
    threshold: null,
    waits: true,
  },
  {
    value: 'error_rate',
    label: 'Error rate',
    about: 'Too many responses have a 5xx status.',
    hasScope: true,
    threshold: { label: 'Above', suffix: ' %', standard: 5, most: 100, scale: 100 },
    waits: true,
  },
  {
    value: 'latency_p95',
    label: 'Latency (p95)',
    about: '5 % of the requests take longer than this.',
    hasScope: true,
    threshold: { label: 'Above', suffix: ' ms', standard: 1000, most: 3_600_000, scale: 1 },
    waits: true,
  },
  {
    value: 'webhook_failing',
    label: 'Webhook failing',
    about: 'Deliveries of a webhook receiver fail.',
    hasScope: true,
    threshold: null,
    waits: true,
  },
  {
    value: 'certificate',
    label: 'Certificate',
    about: "A certificate can't be ordered or renewed, or ends within two days.",
    hasScope: true,
    threshold: null,
    waits: true,
  },
  {
    value: 'budget',
    label: 'Budget',
    about: 'An access key has spent this part of its monthly budget.',
    hasScope: false,
    threshold: { label: 'From', suffix: ' %', standard: 80, most: 100, scale: 1 },
    waits: true,
  },
  {
    value: 'new_address',
    label: 'New address',
    about: 'An agent connects from an address that none has used before.',
    hasScope: false,
    threshold: null,
    waits: false,
  },
];

export function kindOf(value: Kind): KindWords {
  const found = KINDS.find((kind) => kind.value === value);
  if (found === undefined) throw new Error(`unknown kind of alert ${value}`);
  return found;
}

interface ChannelWords {
  readonly value: ChannelType;
  readonly label: string;
  /** The field of the API that says where it leads. */
  readonly field: 'to' | 'url' | 'routing_key';
  readonly title: string;
  readonly placeholder: string;
  readonly isSecret?: true;
  readonly help: string;
}

export const CHANNELS: readonly ChannelWords[] = [
  {
    value: 'email',
    label: 'Email',
    field: 'to',
    title: 'Email address',
    placeholder: 'ops@example.com',
    help: 'Any address; it need not be a member.',
  },
  {
    value: 'slack',
    label: 'Slack',
    field: 'url',
    title: 'Webhook URL',
    placeholder: 'https://hooks.slack.com/services/…',
    isSecret: true,
    help: 'In Slack: Apps, Incoming Webhooks, Add to Slack.',
  },
  {
    value: 'discord',
    label: 'Discord',
    field: 'url',
    title: 'Webhook URL',
    placeholder: 'https://discord.com/api/webhooks/…',
    isSecret: true,
    help: 'In Discord: Edit channel, Integrations, Webhooks.',
  },
  {
    value: 'ntfy',
    label: 'ntfy',
    field: 'url',
    title: 'Topic URL',
    placeholder: 'https://ntfy.sh/your-topic',
    help: 'The address of your server with the topic.',
  },
  {
    value: 'pagerduty',
    label: 'PagerDuty',
    field: 'routing_key',
    title: 'Integration key',
    placeholder: '32 characters',
    isSecret: true,
    help: 'In PagerDuty: Service, Integrations, Events API v2.',
  },
  {
    value: 'webhook',
    label: 'Webhook',
    field: 'url',
    title: 'URL',
    placeholder: 'https://example.com/alerts',
    help: 'Gets signed JSON. The signing secret is shown once.',
  },
];

export function channelOf(value: ChannelType): ChannelWords {
  const found = CHANNELS.find((channel) => channel.value === value);
  if (found === undefined) throw new Error(`unknown channel ${value}`);
  return found;
}

/** "Error rate above 5 % for 5 min" */
export function ruleText({
  kind,
  threshold,
  for_minutes: minutes,
}: Pick<Alert, 'kind' | 'threshold' | 'for_minutes'>): string {
  const { label, threshold: of, waits } = kindOf(kind);
  const bound =
    of === null || threshold === null
      ? ''
      : ` ${of.label.toLowerCase()} ${shownThreshold(kind, threshold)}${of.suffix}`;
  return `${label}${bound}${waits ? ` for ${minutes} min` : ''}`;
}

/** As people see it: the share 0.05 is 5 %. */
export function shownThreshold(kind: Kind, threshold: number): number {
  return Math.round(threshold * (kindOf(kind).threshold?.scale ?? 1) * 1000) / 1000;
}

/** As the API has it; undefined: the kind has none. */
export function sentThreshold(kind: Kind, shown: number): number | undefined {
  const of = kindOf(kind).threshold;
  return of === null ? undefined : shown / of.scale;
}

const STATES: Readonly<Record<Alert['state'], { readonly tone: Tone; readonly words: string }>> = {
  ok: { tone: 'good', words: 'OK' },
  pending: { tone: 'warn', words: 'Pending' },
  firing: { tone: 'bad', words: 'Firing' },
  disabled: { tone: 'quiet', words: 'Disabled' },
};

export function stateOf({ state }: Pick<Alert, 'state'>): { readonly tone: Tone; readonly words: string } {
  return STATES[state];
}

const INCIDENTS: Readonly<Record<Incident['state'], { readonly tone: Tone; readonly words: string }>> = {
  pending: { tone: 'warn', words: 'Pending' },
  firing: { tone: 'bad', words: 'Firing' },
  recovered: { tone: 'good', words: 'Recovered' },
  noted: { tone: 'info', words: 'Event' },
};

export function incidentState({ state }: Pick<Incident, 'state'>): { readonly tone: Tone; readonly words: string } {
  return INCIDENTS[state];
}

/** How the test of a rule went, in one sentence. */
export function testText({ results }: Schemas['AlertTest']): string {
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length === 0) return results.length === 1 ? 'Test sent.' : `Test sent to ${results.length} channels.`;
  return failed.map(({ type, error }) => `${channelOf(type).label}: ${error ?? 'failed'}`).join(' ');
}
