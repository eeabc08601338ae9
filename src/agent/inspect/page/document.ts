/** The page itself: where things are put. What comes from requests is put in by the scripts, as text. */

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Requests - Culvert</title>
<link rel="stylesheet" href="page.css">
<link rel="icon" href="data:,">
<script type="module" src="main.js"></script>
</head>
<body>
<header>
<p class="brand">Culvert</p>
<p id="state" role="status">connecting</p>
<ul id="tunnels" aria-label="Tunnels"></ul>
</header>
<p class="alert" id="problem" role="alert" hidden></p>
<p class="notice" id="notice" role="status" hidden></p>
<main>
<section id="list" aria-label="Requests">
<div class="bar">
<label class="unseen" for="filter">Filter</label>
<input id="filter" type="search" placeholder="Filter: /path, POST, 404, 5xx" autocomplete="off" spellcheck="false">
<button type="button" id="clear">Clear</button>
</div>
<ol id="requests"></ol>
<div id="empty" class="empty">
<h2>No requests yet</h2>
<p>Open your public URL. Every request appears here as it arrives.</p>
</div>
<p id="no-match" class="empty" hidden>No requests match the filter.</p>
<p id="count" class="quiet"></p>
</section>
<section id="detail" aria-label="Request" tabindex="-1">
<p class="empty" id="none-chosen">Choose a request to see its headers and bodies.</p>
<article id="shown" hidden></article>
</section>
</main>
<p class="unseen" id="said" aria-live="polite"></p>
<noscript><p class="alert">This page needs JavaScript.</p></noscript>
</body>
</html>
`;
