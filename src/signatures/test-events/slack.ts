/** Test events of Slack: https://docs.slack.dev/apis/events-api */
import { hmac } from '../scheme.ts';
import { jsonBody, seconds, shortId, type TestContext, type TestSender } from './sender.ts';

function eventOf(type: string, { now }: TestContext): Readonly<Record<string, unknown>> {
  const ts = `${seconds(now)}.000100`;
  const user = 'U0TEST0001';
  const channel = 'C0TEST0001';
  if (type === 'reaction_added')
    return { type, user, reaction: 'thumbsup', item: { type: 'message', channel, ts }, event_ts: ts };
  const text = type === 'app_mention' ? '<@U0TEST0002> Sent by Culvert as a test.' : 'Sent by Culvert as a test.';
  return { type, user, text, channel, channel_type: 'channel', ts, event_ts: ts };
}

export const slack: TestSender = {
  types: ['message', 'app_mention', 'reaction_added'],
  make: (type, context) => {
    const at = seconds(context.now);
    const app = { token: 'test', team_id: 'T0TEST0001', api_app_id: 'A0TEST0001', type: 'event_callback' };
    const named = { event_id: `Ev${shortId(context.id, 9).toUpperCase()}`, event_time: at };
    const body = jsonBody({ ...app, event: eventOf(type, context), ...named, is_ext_shared_channel: false });
    return {
      headers: {
        accept: '*/*',
        'content-type': 'application/json',
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        'x-slack-request-timestamp': String(at),
        'x-slack-signature': `v0=${hmac(context.secret, [`v0:${at}:`, body])}`,
      },
      body,
    };
  },
};
