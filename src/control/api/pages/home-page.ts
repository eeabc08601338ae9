/** The page at `/app/`: sign in, sign up, and what to do next. Its script: scripts/home-script.ts. */
import { MESSAGES, type PageFacts, pageDocument } from './document.ts';
import { waysIn } from './ways-in.ts';

export function homePage(facts: PageFacts): string {
  return pageDocument({ title: 'Your account', script: 'home.js', complete: true, body: BODY }, facts);
}

const BODY = `${MESSAGES}
${waysIn('h1', 'Sign in')}

<section id="home" tabindex="-1" data-part hidden>
<h1>Your account</h1>
<p>Signed in as <strong id="account"></strong></p>
<p class="notice" id="approval" hidden></p>
<h2 id="orgs-title">Your organizations</h2>
<ul class="rows" id="orgs" aria-labelledby="orgs-title"></ul>
<h2>Publish a local port</h2>
<p>Let this machine in, once:</p>
<pre id="login-command"></pre>
<p>Then put what listens on port 3000 on a public name:</p>
<pre>culvert http 3000</pre>
<p>All else is done by the API: <a href="../docs">its reference</a> has a page to try it.</p>
<button type="button" id="sign-out">Sign out</button>
</section>`;
