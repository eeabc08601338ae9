ALTER TABLE `capability_tokens` ADD `replaced_by` text;--> statement-breakpoint
-- Only the last of a lineage can be rotated, so that each was replaced by the next one. Ids go up with time.
UPDATE `capability_tokens` SET `replaced_by` = (
	SELECT `later`.`nonce` FROM `capability_tokens` AS `later`
	WHERE `later`.`lineage_id` = `capability_tokens`.`lineage_id` AND `later`.`id` > `capability_tokens`.`id`
	ORDER BY `later`.`id` LIMIT 1
) WHERE `grace_ends_at` IS NOT NULL OR `revoked_at` IS NOT NULL;
