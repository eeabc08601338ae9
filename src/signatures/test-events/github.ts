/** Test events of GitHub: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
import { hmac } from '../scheme.ts';
import { isoSeconds, jsonBody, shortId, type TestContext, type TestSender } from './sender.ts';

const SENDER = { login: 'octocat', id: 583_231, type: 'User', html_url: 'https://github.com/octocat' };
const REPOSITORY = {
  id: 1_296_269,
  name: 'hello-world',
  full_name: 'octocat/hello-world',
  private: false,
  owner: SENDER,
  html_url: 'https://github.com/octocat/hello-world',
  default_branch: 'main',
};

function payloadOf(type: string, { id, now }: TestContext): Readonly<Record<string, unknown>> {
  const at = isoSeconds(now);
  const about = { repository: REPOSITORY, sender: SENDER };
  const url = `${REPOSITORY.html_url}/${type === 'pull_request' ? 'pull' : 'issues'}/1347`;
  switch (type) {
    case 'pull_request': {
      const head = { ref: 'test-branch', sha: shortId(id, 40) };
      const base = { ref: 'main', sha: '0'.repeat(39) + '1' };
      const pull = { id: 1, number: 1347, state: 'open', title: 'Test pull request', user: SENDER, html_url: url };
      return { action: 'opened', number: 1347, pull_request: { ...pull, head, base, created_at: at }, ...about };
    }
    case 'issues': {
      const issue = { id: 1, number: 1347, state: 'open', title: 'Test issue', body: 'Sent by Culvert as a test.' };
      return { action: 'opened', issue: { ...issue, user: SENDER, html_url: url, created_at: at }, ...about };
    }
    case 'release': {
      const release = { id: 1, tag_name: 'v1.0.0', name: 'Test release', draft: false, prerelease: false };
      return { action: 'published', release: { ...release, author: SENDER, published_at: at }, ...about };
    }
    default: {
      const commit = {
        ...{ id: shortId(id, 40), message: 'Test commit', timestamp: at, url: `${REPOSITORY.html_url}/commit/test` },
        author: { name: 'octocat', email: 'octocat@github.com', username: 'octocat' },
        ...{ added: ['test.txt'], removed: [], modified: [] },
      };
      const moved = { ref: 'refs/heads/main', before: '0'.repeat(40), after: commit.id, created: false, forced: false };
      const pusher = { name: 'octocat', email: 'octocat@github.com' };
      return { ...moved, commits: [commit], head_commit: commit, pusher, ...about };
    }
  }
}

export const github: TestSender = {
  types: ['push', 'pull_request', 'issues', 'release'],
  make: (type, context) => {
    const body = jsonBody(payloadOf(type, context));
    return {
      headers: {
        accept: '*/*',
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/culvert-test',
        'x-github-event': type,
        'x-github-delivery': context.id,
        'x-github-hook-id': '1',
        'x-hub-signature': `sha1=${hmac(context.secret, [body], { hash: 'sha1' })}`,
        'x-hub-signature-256': `sha256=${hmac(context.secret, [body])}`,
      },
      body,
    };
  },
};
