/** How long a message head may be. Read by the parser (head.ts). */

export interface HeadLimits {
  /** Bytes of one head. */
  readonly headBytes: number;
  /** Fields of one head. */
  readonly fields: number;
  /** Bytes of a request target. */
  readonly targetBytes: number;
}

/** Of responses, which come from services of customers; those of visitors' requests are settings (`edge.limits`) and begin at the same. */
export const USUAL_LIMITS: HeadLimits = { headBytes: 32_768, fields: 100, targetBytes: 16_384 };
