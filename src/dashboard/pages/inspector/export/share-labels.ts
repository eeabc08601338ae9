/** Words about shared requests, for those who share and those who read. */

/** Names are all that the server goes by. */
export const MASKED =
  'Headers, query parameters and fields with the usual names of credentials are masked, and so are addresses of visitors.';
