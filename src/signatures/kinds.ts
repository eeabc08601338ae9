/** The kinds of webhook senders whose signatures this program can check. Used by API, database, edge and command line. */
export const WEBHOOK_KINDS = [
  'generic_hmac_sha256',
  'github',
  'slack',
  'stripe',
  'standard_webhooks',
  'shopify',
  'twilio',
  'discord',
  'linear',
  'generic_ed25519',
] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

export function isWebhookKind(text: string): text is WebhookKind {
  return WEBHOOK_KINDS.some((kind) => kind === text);
}
