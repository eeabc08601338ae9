/** Test events of Twilio, as forms: https://www.twilio.com/docs/messaging/guides/webhook-request */
import { hmac } from '../scheme.ts';
import { shortId, type TestContext, type TestSender } from './sender.ts';

const ACCOUNT = 'AC00000000000000000000000000000000';
/** Numbers that belong to no one: https://www.twilio.com/docs/iam/test-credentials */
const [FROM, TO] = ['+15005550006', '+15005550009'];

function fieldsOf(type: string, { id }: TestContext): Readonly<Record<string, string>> {
  const key = shortId(id, 32);
  const ends = { AccountSid: ACCOUNT, ApiVersion: '2010-04-01', From: FROM, To: TO };
  if (type === 'completed')
    return { ...ends, CallSid: `CA${key}`, CallStatus: type, CallDuration: '12', Direction: 'inbound' };
  const message = { ...ends, MessageSid: `SM${key}`, SmsSid: `SM${key}` };
  if (type === 'delivered') return { ...message, MessageStatus: type, SmsStatus: type };
  return { ...message, SmsStatus: 'received', Body: 'Sent by Culvert as a test.', NumMedia: '0', NumSegments: '1' };
}

export const twilio: TestSender = {
  types: ['received', 'delivered', 'completed'],
  make: (type, context) => {
    const fields = fieldsOf(type, context);
    const signed = Object.keys(fields)
      .sort()
      .map((name) => `${name}${fields[name]}`)
      .join('');
    return {
      headers: {
        accept: '*/*',
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'user-agent': 'TwilioProxy/1.1',
        'i-twilio-idempotency-token': context.id,
        'x-twilio-signature': hmac(context.secret, [context.url, signed], { hash: 'sha1', encoding: 'base64' }),
      },
      body: Buffer.from(new URLSearchParams(fields).toString()),
    };
  },
};
