/** How long a message head may be. Read by the parser (head.ts). */

export interface HeadLimits {
  /** Bytes of one head. */
  readonly headBytes: number;
  /** Fields of one head. */
  readonly fields: number;
  /** Bytes of a request target. */
  readonly targetBytes: number;
}

/** Of requests, where no setting says another. */
export const USUAL_LIMITS: HeadLimits = { headBytes: 32_768, fields: 100, targetBytes: 16_384 };

/** Of responses: what services of customers send is longer than what visitors do. */
export const RESPONSE_LIMITS: HeadLimits = { headBytes: 131_072, fields: 256, targetBytes: 16_384 };
