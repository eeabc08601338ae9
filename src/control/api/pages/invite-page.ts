/** The page at `/app/invite?token=`, to which an invitation leads. Its script: scripts/invite-script.ts. */
import { MESSAGES, type PageFacts, pageDocument } from './document.ts';
import { waysIn } from './ways-in.ts';

export function invitePage(facts: PageFacts): string {
  const complete = (facts.query('token') ?? '') !== '';
  return pageDocument({ title: 'Invitation', script: 'invite.js', complete, body: complete ? BODY : MISSING }, facts);
}

const MISSING = `<h1>This address is not complete</h1>
<p>Open the whole link of the mail that invites you.</p>`;

const BODY = `<h1 id="title">You are invited</h1>
<p id="invited">The mail says to which organization. Accept with the account of the address that it was sent to.</p>
${MESSAGES}
${waysIn('h2', 'Sign in first')}

<form id="accept" method="post" tabindex="-1" data-part hidden>
<p>Signed in as <strong id="account"></strong></p>
<button type="submit" class="main">Accept the invitation</button>
<button type="button" class="link" id="another">Use another account</button>
</form>

<section id="joined" tabindex="-1" data-part hidden>
<p>Organization <strong id="org"></strong></p>
<p>Your role <strong id="role"></strong></p>
<a class="button main" href="./">Go on</a>
</section>
<section id="ended" tabindex="-1" data-part hidden>
<a class="button main" href="./">Go on</a>
</section>`;
