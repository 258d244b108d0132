<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name></name>
    <message numerus="yes">
        <source>%n answer(s) of your model were wrong. In round {peer_round} it learned from a peer&apos;s answer; in round {round} it found a right one.</source>
        <translation>
            <numerusform>%Ln answer of your model was wrong. In round {peer_round} it learned from a peer&apos;s answer; in round {round} it found a right one.</numerusform>
            <numerusform>%Ln answers of your model were wrong. In round {peer_round} it learned from a peer&apos;s answer; in round {round} it found a right one.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation>
            <numerusform>mean of the last round</numerusform>
            <numerusform>mean of the last %Ln rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>no peer measured in the last %n rounds</source>
        <translation>
            <numerusform>no peer measured in the last round</numerusform>
            <numerusform>no peer measured in the last %Ln rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s), {interval}</source>
        <translation>
            <numerusform>%Ln peer, {interval}</numerusform>
            <numerusform>median of %Ln peers, {interval}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). You can change all of this at any time.</source>
        <translation>
            <numerusform>This computer has %Ln core. You can change all of this at any time.</numerusform>
            <numerusform>This computer has %Ln cores. You can change all of this at any time.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{sentence}, %n peer(s)</source>
        <translation>
            <numerusform>{sentence}, %Ln peer</numerusform>
            <numerusform>{sentence}, %Ln peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Linked to %n peer(s)</source>
        <translation>
            <numerusform>Linked to %Ln peer</numerusform>
            <numerusform>Linked to %Ln peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The model answered too: {right} of %n right.</source>
        <translation>
            <numerusform>The model answered too: {right} of %Ln right.</numerusform>
            <numerusform>The model answered too: {right} of %Ln right.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation>
            <numerusform>%Ln answer, newest first</numerusform>
            <numerusform>%Ln answers, newest first</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{share} of %n</source>
        <translation>
            <numerusform>{share} of %Ln</numerusform>
            <numerusform>{share} of %Ln</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mean of the last round</numerusform>
            <numerusform>Mean of the last %Ln rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>of own answers, at the limit of %n token(s)</source>
        <translation>
            <numerusform>of own answers, at the limit of %Ln token</numerusform>
            <numerusform>of own answers, at the limit of %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s)</source>
        <translation>
            <numerusform>%Ln notice</numerusform>
            <numerusform>%Ln notices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s) copied.</source>
        <translation>
            <numerusform>%Ln notice copied.</numerusform>
            <numerusform>%Ln notices copied.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of this node&apos;s groups used</source>
        <translation>
            <numerusform>%Ln of this node&apos;s groups used</numerusform>
            <numerusform>%Ln of this node&apos;s groups used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The link leads to the private swarm {key}, through %n address(es).</source>
        <translation>
            <numerusform>The link leads to the private swarm {key}, through %Ln address.</numerusform>
            <numerusform>The link leads to the private swarm {key}, through %Ln addresses.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%Ln setting</numerusform>
            <numerusform>%Ln settings</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation>
            <numerusform>Writing, %Ln token</numerusform>
            <numerusform>Writing, %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This chat: %n question(s). The model reads the earlier ones again each time.</source>
        <translation>
            <numerusform>This chat: %Ln question.</numerusform>
            <numerusform>This chat: %Ln questions. The model reads the earlier ones again each time.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The same %n held-out questions: {ours}, {other}.</source>
        <translation>
            <numerusform>The same held-out question: {ours}, {other}.</numerusform>
            <numerusform>The same %Ln held-out questions: {ours}, {other}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Solved {score} of %n questions ({low} to {high}), in {span}.</source>
        <translation>
            <numerusform>Solved {score} of %Ln question ({low} to {high}), in {span}.</numerusform>
            <numerusform>Solved {score} of %Ln questions ({low} to {high}), in {span}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n question(s) are too long for this model and count as not solved.</source>
        <translation>
            <numerusform>%Ln question is too long for this model and counts as not solved.</numerusform>
            <numerusform>%Ln questions are too long for this model and count as not solved.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written to {folder}: {files}</source>
        <translation>
            <numerusform>%Ln file written to {folder}: {files}</numerusform>
            <numerusform>%Ln files written to {folder}: {files}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%Ln character</numerusform>
            <numerusform>%Ln characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>none of %n question(s) solved yet</source>
        <translation>
            <numerusform>the one question is not solved yet</numerusform>
            <numerusform>none of %Ln questions solved yet</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%Ln round</numerusform>
            <numerusform>%Ln rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n right answer(s)</source>
        <translation>
            <numerusform>%Ln right answer</numerusform>
            <numerusform>%Ln right answers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s) helped</source>
        <translation>
            <numerusform>%Ln computer helped</numerusform>
            <numerusform>%Ln computers helped</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Answer, %n character(s)</source>
        <translation>
            <numerusform>Answer, %Ln character</numerusform>
            <numerusform>Answer, %Ln characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>as they report: %n group(s) used</source>
        <translation>
            <numerusform>as they report: %Ln group used</numerusform>
            <numerusform>as they report: %Ln groups used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s)</source>
        <translation>
            <numerusform>%Ln computer</numerusform>
            <numerusform>%Ln computers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{way}, on %n thread(s).</source>
        <translation>
            <numerusform>{way}, on %Ln thread.</numerusform>
            <numerusform>{way}, on %Ln threads.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n question(s)</source>
        <translation>
            <numerusform>%Ln question</numerusform>
            <numerusform>%Ln questions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>solved here, mean of %n rounds</source>
        <translation>
            <numerusform>solved here, mean of %Ln round</numerusform>
            <numerusform>solved here, mean of %Ln rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s): {share} ({low} to {high})</source>
        <translation>
            <numerusform>median of %Ln peer: {share} ({low} to {high})</numerusform>
            <numerusform>median of %Ln peers: {share} ({low} to {high})</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n package(s) and their licences</source>
        <translation>
            <numerusform>%Ln package and its licence</numerusform>
            <numerusform>%Ln packages and their licences</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more cannot run here.</source>
        <translation>
            <numerusform>%Ln more cannot run here.</numerusform>
            <numerusform>%Ln more cannot run here.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Saved %n round(s) to {path}</source>
        <translation>
            <numerusform>Saved %Ln round to {path}</numerusform>
            <numerusform>Saved %Ln rounds to {path}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Counted by the system: %n open connection(s) to other computers</source>
        <translation>
            <numerusform>Counted by the system: %Ln open connection to other computers</numerusform>
            <numerusform>Counted by the system: %Ln open connections to other computers</numerusform>
        </translation>
    </message>
</context>
</TS>
