ALTER TABLE `webhook_receivers` ADD `refused_before` integer;--> statement-breakpoint
-- What was changed last was changed before the last delivery came: that was taken in by the secret of now.
UPDATE `webhook_receivers` SET `refused_before` = (
	SELECT coalesce(sum(`count`), 0) FROM `webhook_refusals`
	WHERE `receiver_id` = `webhook_receivers`.`id` AND `last_at` <= `webhook_receivers`.`last_received_at`
) WHERE `last_received_at` >= `updated_at`;
