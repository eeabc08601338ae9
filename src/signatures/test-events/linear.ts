/** Test events of Linear: https://linear.app/developers/webhooks */
import { hmac } from '../scheme.ts';
import { jsonBody, type TestSender } from './sender.ts';

export const linear: TestSender = {
  types: ['Issue.create', 'Issue.update', 'Comment.create'],
  make: (name, { secret, now, id }) => {
    const [type = 'Issue', action = 'create'] = name.split('.');
    const createdAt = new Date(now).toISOString();
    const about =
      type === 'Comment'
        ? { body: 'Sent by Culvert as a test.', issueId: id, userId: id }
        : { number: 1, title: 'Test issue', priority: 0, state: { name: 'Todo', type: 'unstarted' }, teamId: id };
    const updated = action === 'update' ? { updatedFrom: { title: 'Test' } } : {};
    const data = { id, createdAt, updatedAt: createdAt, ...about };
    const sent = { organizationId: id, webhookTimestamp: now, webhookId: id };
    const body = jsonBody({ action, type, createdAt, data, url: 'https://linear.app/test', ...updated, ...sent });
    return {
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Linear-Webhook',
        'linear-event': type,
        'linear-delivery': id,
        'linear-timestamp': String(now),
        'linear-signature': hmac(secret, [body]),
      },
      body,
    };
  },
};
